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

/** Creates an element of an SVG image. */
export function createSvgElement<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | number>> = {},
  children: readonly Child[] = [],
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, String(value))
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
