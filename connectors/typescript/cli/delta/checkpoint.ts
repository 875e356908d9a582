import { type AsyncBuffer, parquetReadObjects, type SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { type Action, PROTOCOL, type Snapshot } from './log.ts'

/** Encodes a version as a Parquet file, with the removals since a time in milliseconds. `size` is the number of its actions. */
export function encodeCheckpoint(snapshot: Snapshot, removedSince: number) {
  const { metaData } = snapshot
  const rows: Readonly<Record<string, unknown>>[] = [{ protocol: PROTOCOL }]
  if (metaData) rows.push({ metaData: { ...metaData, createdTime: BigInt(metaData.createdTime) } })
  for (const [path, time] of snapshot.removed)
    if (time >= removedSince)
      rows.push({ remove: { path: encodeURI(path), deletionTimestamp: BigInt(time), dataChange: false } })
  for (const { path, size, modificationTime, ...file } of snapshot.files.values()) {
    const times = { size: BigInt(size), modificationTime: BigInt(modificationTime) }
    rows.push({ add: { ...file, ...times, path: encodeURI(path), dataChange: false } })
  }
  const writer = new ByteWriter()
  const parquet = new ParquetWriter({ writer, schema: SCHEMA })
  const columnData = ACTIONS.map(([{ name }]) => ({ name, data: rows.map((row) => row[name] ?? null) }))
  parquet.write({ columnData, rowGroupSize: rows.length })
  parquet.finish()
  return { bytes: new Uint8Array(writer.getBytes()), size: rows.length }
}

/** Decodes a checkpoint. Throws when it is damaged. */
export async function decodeCheckpoint(file: AsyncBuffer): Promise<Action[]> {
  const rows = await parquetReadObjects({ file })
  return rows.map((row) => toJson(row) as Action)
}

/** Returns a value as entries have it: numbers are no bigints, and what is null is missing. */
function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, toJson(member)]))
}

/** A column, then what is in it. */
type Field = readonly [SchemaElement, ...SchemaElement[]]

const leaf = (name: string, type: 'INT32' | 'INT64' | 'BOOLEAN'): Field => [
  { name, type, repetition_type: 'OPTIONAL' },
]
const text = (name: string, repetition_type: SchemaElement['repetition_type'] = 'OPTIONAL'): Field => [
  { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' }, repetition_type },
]
const group = (name: string, ...fields: readonly Field[]): Field => [
  { name, repetition_type: 'OPTIONAL', num_children: fields.length },
  ...fields.flat(),
]
const repeated = (name: string, type: 'MAP' | 'LIST', member: string, ...fields: readonly Field[]): Field => [
  { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: type, logical_type: { type } },
  { name: member, repetition_type: 'REPEATED', num_children: fields.length },
  ...fields.flat(),
]
const textMap = (name: string): Field =>
  repeated(name, 'MAP', 'key_value', text('key', 'REQUIRED'), text('value'))
const textList = (name: string): Field => repeated(name, 'LIST', 'list', text('element'))

const ACTIONS: readonly Field[] = [
  group('protocol', leaf('minReaderVersion', 'INT32'), leaf('minWriterVersion', 'INT32')),
  group(
    'metaData',
    text('id'),
    group('format', text('provider'), textMap('options')),
    text('schemaString'),
    textList('partitionColumns'),
    textMap('configuration'),
    leaf('createdTime', 'INT64'),
  ),
  group('remove', text('path'), leaf('deletionTimestamp', 'INT64'), leaf('dataChange', 'BOOLEAN')),
  group(
    'add',
    text('path'),
    textMap('partitionValues'),
    leaf('size', 'INT64'),
    leaf('modificationTime', 'INT64'),
    leaf('dataChange', 'BOOLEAN'),
    text('stats'),
    textMap('tags'),
  ),
]

const SCHEMA: SchemaElement[] = [{ name: 'spark_schema', num_children: ACTIONS.length }, ...ACTIONS.flat()]
