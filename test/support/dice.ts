/** Choices that a seed decides, the same on every run. */
export type Dice = {
  readonly below: (limit: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <Item>(items: readonly Item[]) => Item
  readonly some: <Item>(items: readonly Item[], probability: number) => Item[]
}

/** Dice after mulberry32, a generator of 32 bits. */
export function dice(seed: number): Dice {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  const chance = (probability: number) => next() < probability
  return {
    below,
    chance,
    pick: (items) => {
      const item = items[below(items.length)]
      if (item === undefined) throw new RangeError('Nothing to pick from')
      return item
    },
    some: (items, probability) => items.filter(() => chance(probability)),
  }
}
