import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { migrateToLatest } from '../../bundle/migrate-to-latest.ts'
import { withClient } from '../../drizzle/db/connect.ts'

const created = new Set<() => Promise<unknown>>()

/** Runs work in a migrated database of its own, and drops it afterwards. */
export async function inDatabase<Result>(
  serverUrl: string,
  work: (client: pg.Client, url: string) => Promise<Result>,
): Promise<Result> {
  const name = `export_api_bench_${randomBytes(6).toString('hex')}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const onServer = (sql: string) => withClient(serverUrl, (client) => client.query(sql))
  const drop = () => onServer(`drop database if exists ${name} with (force)`)
  created.add(drop)
  try {
    await onServer(`create database ${name}`)
    await withClient(url.href, migrateToLatest)
    return await withClient(url.href, (client) => work(client, url.href))
  } finally {
    created.delete(drop)
    await drop()
  }
}

/** Drops the databases of an interrupted run. */
export async function dropAll(): Promise<void> {
  for (const drop of created) await drop()
}
