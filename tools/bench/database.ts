import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { migrateToLatest } from '../../bundle/migrate-to-latest.ts'
import { withClient } from '../../test/support/database.ts'

const undropped = new Set<() => Promise<unknown>>()

/** Runs work in a migrated database of its own, dropped afterwards; work hears its address too. */
export async function inDatabase<Result>(
  serverUrl: string,
  work: (client: pg.Client, url: string) => Promise<Result>,
): Promise<Result> {
  const name = `export_api_bench_${randomBytes(6).toString('hex')}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const ask = (sql: string) => withClient(serverUrl, (client) => client.query(sql))
  const drop = () => ask(`drop database if exists ${name} with (force)`)
  undropped.add(drop)
  try {
    await ask(`create database ${name}`)
    await withClient(url.href, migrateToLatest)
    return await withClient(url.href, (client) => {
      client.on('error', () => {})
      return work(client, url.href)
    })
  } finally {
    undropped.delete(drop)
    await drop()
  }
}

/** Drops what an interrupted run has left. */
export async function dropAll(): Promise<void> {
  for (const drop of undropped) await drop()
}
