/** A new version of the service has other files. */
export const NOT_LOADED = 'This part did not load. Reload the page.'

/** Uses a part of the page once it is loaded. Says in an element when that fails. */
export const loadPart = <Part>(part: Promise<Part>, use: (part: Part) => unknown, element: Element) =>
  part.then(use).catch(() => element.append(NOT_LOADED))

/** Calls a function with each element, when it first comes near the view. */
export function whenNear(elements: readonly Element[], work: (element: Element) => void): void {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue
        observer.unobserve(target)
        work(target)
      }
    },
    { rootMargin: '50%' },
  )
  for (const element of elements) observer.observe(element)
}
