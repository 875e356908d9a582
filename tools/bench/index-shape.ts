import type { ClientBase } from 'pg'

/** What an index looks like: pages from the root to a row's entry, and how many entries a leaf and a page above hold. */
export type Shape = { readonly depth: number; readonly leaf: number; readonly fanout: number }

/** The shape of the deepest of some primary keys, all rows together. */
export async function shapeOf(client: ClientBase, schema: string): Promise<Shape> {
  await client.query('create extension if not exists pgstattuple')
  const { rows } = await client.query<Shape>(
    `select max(tree_level)::int + 1 as depth, (sum(reltuples) / sum(leaf_pages))::float8 as leaf,
       (sum(leaf_pages) / sum(internal_pages))::float8 as fanout
     from pg_class
     join pg_index on indexrelid = oid and indisprimary, pgstatindex(oid::regclass)
     where relnamespace = $1::regnamespace and relkind = 'i' and relname like 'citation_share%'`,
    [schema],
  )
  const [shape] = rows
  if (shape === undefined) throw new Error(`No primary key in ${schema}`)
  return shape
}

/** The depth that an index of that shape has at some number of rows. */
export function depthAt(rows: number, { leaf, fanout }: Shape): number {
  let pages = rows / leaf
  let depth = 1
  for (; pages > 1; depth += 1) pages /= fanout
  return depth
}
