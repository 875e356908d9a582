import { createElement } from '../charts/elements.ts'
import type { Row } from '../charts/sums.ts'
import { describeCause } from '../reference/causes.ts'

const EVERY_MS = 5_000

/** The panel begins with the changes of so many milliseconds. */
const RECENT_MS = 600_000

const MOST_LINES = 40

/** After an error, it waits longer. */
const AFTER_ERROR_MS = 20_000

type Watch = {
  /** What the changes depend on: the key and the brand. */
  readonly sourceOf: () => string
  /** Reads the next changes, which may not be all. Returns what a person should know when it fails. */
  readonly readChanges: (since: string) => Promise<readonly Row[] | string>
}

/** Shows which days of a brand change and why, the latest first, while the panel is open and the page is visible. */
export function watchChanges(panel: HTMLDetailsElement, { sourceOf, readChanges }: Watch): void {
  const state = createElement('p', { role: 'status' })
  const list = createElement('ul', { 'aria-live': 'polite' })
  panel.append(createElement('div', { class: 'inset' }, [state, list]))
  let [source, since] = ['', '']

  async function look(): Promise<readonly Row[] | string> {
    if (source !== sourceOf()) {
      source = sourceOf()
      // With six digits, as the service writes times.
      since = new Date(Date.now() - RECENT_MS).toISOString().replace('Z', '000Z')
      list.replaceChildren()
    }
    const changed = await readChanges(since)
    if (typeof changed === 'string' || changed.length === 0) return changed
    const lines = describeChanges(changed, since).map((text) => createElement('li', {}, [text]))
    list.replaceChildren(...[...lines, ...list.children].slice(0, MOST_LINES))
    since = String(changed.at(-1)?.changed_at ?? since)
    return changed
  }

  const tick = async () => {
    let wait = EVERY_MS
    if (panel.open && !document.hidden) {
      const found = await look()
      const isFailed = typeof found === 'string'
      const nothing = list.children.length === 0 ? 'Nothing changed in the last ten minutes. ' : ''
      const text = isFailed ? found : `${nothing}Looks again every ${EVERY_MS / 1000} seconds.`
      // Screen readers announce what is replaced.
      if (state.textContent !== text) state.replaceChildren(text)
      if (isFailed) wait = AFTER_ERROR_MS
    }
    setTimeout(tick, wait)
  }
  void tick()
}

/** Describes rows of `/changes`: in a line, the days that changed for the same causes. */
function describeChanges(rows: readonly Row[], since: string): string[] {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const kinds = Object.entries(row.causes ?? {}).flatMap(([kind, time]) => (time > since ? kind : []))
    const key = kinds.map(describeCause).join(', ')
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return [...groups].reverse().map(([causes, of]) => {
    const days = [...new Set(of.map(({ date }) => String(date)))].sort()
    const endpoints = [...new Set(of.map(({ endpoint }) => endpoint))].join(', ')
    const when = days.length === 1 ? days[0] : `${days.length} days from ${days[0]} to ${days.at(-1)}`
    return `${[when, causes].filter(Boolean).join(', ')} (${endpoints})`
  })
}
