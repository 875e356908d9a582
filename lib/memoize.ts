/** Builds something once for each environment, and so once in an isolate. */
export function memoize<Key extends object, Built>(build: (key: Key) => Built): (key: Key) => Built {
  const kept = new WeakMap<Key, Built>()
  return (key) => {
    const found = kept.get(key)
    if (found !== undefined) return found
    const built = build(key)
    kept.set(key, built)
    return built
  }
}
