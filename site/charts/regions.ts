import { createElement } from './elements.ts'

/** Attributes of a scrollable region, which keyboards must reach and screen readers must name. */
export const scrollable = (label: string) => ({
  tabindex: '0',
  role: 'region',
  'aria-label': label,
  class: 'scrolled',
})

/** Renders a title that shows its content when it is opened. Content that starts closed is rendered when it opens. */
export function disclosure(title: string, content: Node | (() => Node)): Node {
  const isOpen = content instanceof Node
  const element = createElement('details', isOpen ? { open: '' } : {}, [
    createElement('summary', {}, [title]),
    ...(isOpen ? [content] : []),
  ])
  if (!isOpen) element.addEventListener('toggle', () => element.append(content()), { once: true })
  return element
}
