import document from '../../functions/openapi.json' with { type: 'json' }
import { type Endpoint, isMetric, listsChanges } from '../../site/reference/endpoint.ts'
import { readReference } from '../../site/reference/reference.ts'
import type { Generated } from './generated.ts'

/** The types of dlt, by the format or type in the OpenAPI document. */
const DLT_TYPES = new Map(
  Object.entries({
    uuid: 'text',
    date: 'date',
    'date-time': 'timestamp',
    string: 'text',
    integer: 'bigint',
    number: 'double',
    boolean: 'bool',
    object: 'json',
    array: 'json',
  }),
)

const BRAND_ID = { name: 'brand_id', type: 'uuid', nullable: false, description: 'Identifier of the brand.' }

/** Returns the JSON of an endpoint's table in dlt, with a line for each column. A day is loaded whole: it has no `offset`. */
function toTable(endpoint: Endpoint): string {
  const fields = [...(isMetric(endpoint) ? [BRAND_ID] : []), ...endpoint.fields]
  const columns = fields
    .filter(({ name }) => name !== 'offset')
    .map(({ name, type, nullable, description }) => {
      const data_type = DLT_TYPES.get(type)
      if (data_type === undefined) throw new Error(`dlt has no type for ${type}.`)
      return `${JSON.stringify(name)}:${JSON.stringify({ data_type, nullable, description })}`
    })
  return `"${endpoint.id.replaceAll('-', '_')}":{\n${columns.join(',\n')}\n}`
}

/** Writes the columns of the tables into the dlt source. */
export function dlt(): Generated[] {
  const tables = readReference(document).endpoints.filter((endpoint) => !listsChanges(endpoint))
  return [{ path: 'dlt/sources/export_api/streams.json', text: `{\n${tables.map(toTable).join(',\n')}\n}\n` }]
}
