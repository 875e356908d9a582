/** Returns a function that builds a value once per key object, and so once per isolate. */
export function memoize<Key extends object, Value>(build: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, Value>()
  return (key) => {
    const known = values.get(key)
    if (known !== undefined) return known
    const value = build(key)
    values.set(key, value)
    return value
  }
}

/** Returns a map that keeps at most `capacity` keys, and then drops the one that was set the longest ago. */
export function recent<Value>(capacity: number) {
  const values = new Map<string, Value>()
  return {
    get: (key: string) => values.get(key),
    delete: (key: string) => void values.delete(key),
    set: (key: string, value: Value) => {
      values.delete(key)
      values.set(key, value)
      const [oldest] = values.keys()
      if (values.size > capacity && oldest !== undefined) values.delete(oldest)
    },
  }
}
