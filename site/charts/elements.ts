type Child = Node | string

/** Creates an element. Children that are strings become text, never markup. */
export function createElement<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  children: readonly Child[] = [],
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value)
  element.append(...children)
  return element
}

/** Returns the first element that matches a selector. Throws when there is none of this type. */
export function find<Type extends Element>(
  type: new () => Type,
  selector: string,
  parent: ParentNode = document,
): Type {
  const element = parent.querySelector(selector)
  if (!(element instanceof type)) throw new Error(`The page has no ${selector}`)
  return element
}

/** Returns all elements of a type that match a selector. */
export const findAll = <Type extends Element>(
  type: new () => Type,
  selector: string,
  parent: ParentNode = document,
): Type[] =>
  [...parent.querySelectorAll(selector)].filter((element): element is Type => element instanceof type)

/** Creates a button. */
export function button(label: string, onClick: () => void): HTMLButtonElement {
  const element = createElement('button', { type: 'button', class: 'quiet' }, [label])
  element.addEventListener('click', onClick)
  return element
}

/** Creates a select with its label. Calls `onChange` with the chosen option. */
export function select(
  label: string,
  options: readonly string[],
  value: string | undefined,
  onChange: (value: string) => void,
): HTMLElement {
  const choices = options.map((option) => createElement('option', {}, [option]))
  const element = createElement('select', {}, choices)
  if (value !== undefined && options.includes(value)) element.value = value
  element.addEventListener('change', () => onChange(element.value))
  return createElement('label', {}, [`${label} `, element])
}

/** Creates a table. The first cell of each row is its header. */
export function table(
  head: readonly string[],
  rows: readonly (readonly Child[])[],
  caption?: string,
): HTMLTableElement {
  const cell = (child: Child, index: number) =>
    index === 0 ? createElement('th', { scope: 'row' }, [child]) : createElement('td', {}, [child])
  const headings = head.map((name) => createElement('th', { scope: 'col' }, [name]))
  const body = rows.map((cells) => createElement('tr', {}, cells.map(cell)))
  return createElement('table', {}, [
    ...(caption === undefined ? [] : [createElement('caption', {}, [caption])]),
    createElement('thead', {}, [createElement('tr', {}, headings)]),
    createElement('tbody', {}, body),
  ])
}

/** Saves a file under a name. */
export function save(name: string, file: Blob): void {
  const href = URL.createObjectURL(file)
  createElement('a', { href, download: name }).click()
  // Safari reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}

/** Attributes of a scrollable region, which keyboards must reach and screen readers must name. */
export const scrollable = (label: string) => ({
  tabindex: '0',
  role: 'region',
  'aria-label': label,
  class: 'scrolled',
})

/** Renders a title that shows its content when it is opened. Content that starts closed is rendered when it opens. */
export function disclosure(title: string, content: Node | (() => Node)): HTMLDetailsElement {
  const isOpen = content instanceof Node
  const element = createElement('details', isOpen ? { open: '' } : {}, [
    createElement('summary', {}, [title]),
    ...(isOpen ? [content] : []),
  ])
  if (!isOpen) element.addEventListener('toggle', () => element.append(content()), { once: true })
  return element
}
