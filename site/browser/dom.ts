type Child = Node | string

/** Makes an element; its children are nodes and texts, and never markup. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  children: readonly Child[] = [],
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  made.append(...children)
  return made
}

/** The one element that a selector names; the page and its script are made together, so it is there. */
export function find<Kind extends Element>(
  kind: new () => Kind,
  selector: string,
  within: ParentNode = document,
): Kind {
  const found = within.querySelector(selector)
  if (!(found instanceof kind)) throw new Error(`The page has no ${selector}`)
  return found
}

/** Every element of a kind that a selector names. */
export const findAll = <Kind extends Element>(
  kind: new () => Kind,
  selector: string,
  within: ParentNode = document,
): Kind[] => [...within.querySelectorAll(selector)].filter((each): each is Kind => each instanceof kind)
