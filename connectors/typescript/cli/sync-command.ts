import { join } from 'node:path'
import { createApi } from './api.ts'
import { dryRun } from './dry-run.ts'
import { UsageError } from './errors.ts'
import { isBucket, openStore } from './open-store.ts'
import type { Progress } from './progress.ts'
import { writeReport } from './report/write-report.ts'
import { describeReading, describeSync } from './summary.ts'
import { sync } from './sync.ts'
import { counted } from './text.ts'

export type SyncOptions = {
  url?: string
  userAgent?: string
  allowHttp?: boolean
  out: string
  from?: string
  to?: string
  brand?: string[]
  endpoint?: string[]
  concurrency: number
  keep: number
  dryRun?: true
  report?: true
}

/** Brings a copy up to date, and reports what the copy has. */
export async function runSync(options: SyncOptions, progress: Progress): Promise<void> {
  const { out, from, to, brand, endpoint, concurrency, keep } = options
  const startedAt = performance.now()
  if (options.report && isBucket(out))
    throw new UsageError(`--report needs a folder. Run export-api report ${out} after the sync.`)
  const api = createApi({ ...options, key: process.env.EXPORT_API_KEY }, progress)
  const asked = { fromDate: from, toDate: to, endpoints: endpoint }
  const job = { api, store: openStore(out, progress), ...asked, concurrency, keepDays: keep, progress }
  if (from !== undefined && to !== undefined && from > to)
    throw new UsageError(`--from ${from} is after --to ${to}.`)
  progress.begin(`Listing what changed at ${options.url}`)
  if (options.dryRun) {
    const rows = await dryRun(job, brand)
    return progress.notice('dry_run', `Would fetch ${counted(rows, 'row')}. Nothing was written.`, { rows })
  }
  const synced = await sync(job, brand)
  const { requests, rows } = progress.counts
  const report = join(out, 'report.html')
  const isRead = synced.changed > 0 && process.stdout.isTTY && !isBucket(out)
  const advice = isRead ? describeReading(join(out, synced.table)) : []
  if (options.report) {
    progress.begin('Drawing the charts')
    progress.log('report', { out: report, ...(await writeReport(job.store, report)) })
    advice.push(`Open ${report} in a browser.`)
  } else if (!isBucket(out)) advice.push('Add --report to draw its charts.')
  const { size } = synced
  const seconds = (performance.now() - startedAt) / 1000
  const lines = describeSync(synced, { location: out, requests, seconds, advice })
  const copied = { copyRows: size.rows, copyFiles: size.files, copyBytes: size.bytes }
  progress.notice('done', lines, { requests, rows, ...copied })
}
