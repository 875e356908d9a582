/**
 * Runs work for each item, some at once. Starts none after one has thrown; throws its error when all have ended. Returns
 * the results in the order of the items.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const left = [...items.entries()]
  const results: Result[] = []
  const errors: unknown[] = []
  const worker = async () => {
    for (let next = left.shift(); next !== undefined && errors.length === 0; next = left.shift()) {
      const [index, item] = next
      await work(item).then(
        (result) => {
          results[index] = result
        },
        (error) => errors.push(error),
      )
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  if (errors.length > 0) throw errors[0]
  return results
}
