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
