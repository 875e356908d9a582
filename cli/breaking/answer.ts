import { at, entries, includes, member, type Part, resolved } from './part.ts'

/** Constraints that a reader can have relied upon: a value outside of what was promised would surprise it. */
const PROMISES = [
  'format',
  'pattern',
  'const',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'maxItems',
] as const

/** What is answered may be promised more strictly than before, and have more fields; never less. */
export function answerChanges(what: string, was: Part | undefined, is: Part | undefined): string[] {
  if (was === undefined) return []
  if (is === undefined) return [`${what} is described no more`]
  const choices = choicesOf(was)
  if (choices.length > 0) {
    const known = (one: Part) => choices.some((choice) => answerChanges(what, choice, one).length === 0)
    const now = choicesOf(is)
    return (now.length > 0 ? now : [is]).every(known) ? [] : [`${what} has another choice now`]
  }
  const changes: string[] = []
  const [old, fresh] = [was.part, is.part]
  const added = typesOf(fresh).filter((type) => !typesOf(old).includes(type))
  const removed = typesOf(old).filter((type) => !typesOf(fresh).includes(type))
  // An integer is a number; whatever is not null any more was no surprise either.
  const isNarrower = added.every((type) => type === 'integer' && removed.includes('number'))
  if (!isNarrower) changes.push(`${what} can be ${added.join(' or ')} now`)
  else if (typesOf(fresh).length === 0 && typesOf(old).length > 0)
    changes.push(`${what} has no type any more`)
  for (const name of PROMISES) {
    const [promised, promises] = [at(old, name), at(fresh, name)]
    if (promised !== undefined && !isKept(name, promised, promises))
      changes.push(`${what} has another ${name}`)
  }
  const [oldValues, values] = [at(old, 'enum'), at(fresh, 'enum')]
  if (Array.isArray(oldValues)) {
    const unknown = Array.isArray(values)
      ? values.filter((value) => !oldValues.includes(value))
      : ['anything']
    if (unknown.length > 0) changes.push(`${what} can be ${unknown.join(' or ')} now`)
  }
  const required = at(fresh, 'required')
  const wasRequired = at(old, 'required')
  for (const [name, field] of entries(member(was, 'properties'))) {
    const kept = member(member(is, 'properties'), name)
    if (kept === undefined) {
      changes.push(`the field ${name} of ${what} is gone`)
      continue
    }
    if (includes(wasRequired, name) && !includes(required, name)) {
      changes.push(`the field ${name} of ${what} may be left out now`)
    }
    changes.push(...answerChanges(`the field ${name} of ${what}`, field, kept))
  }
  const items = member(was, 'items')
  if (items !== undefined) changes.push(...answerChanges(`a row of ${what}`, items, member(is, 'items')))
  return changes
}

/** Whether a constraint that was promised still holds: a bound may become tighter. */
function isKept(name: (typeof PROMISES)[number], promised: unknown, promises: unknown): boolean {
  if (typeof promised !== 'number' || typeof promises !== 'number') return promised === promises
  if (name === 'const') return promised === promises
  return name.startsWith('min') ? promises >= promised : promises <= promised
}

function choicesOf({ document, part }: Part): Part[] {
  const choices = at(part, 'anyOf') ?? at(part, 'oneOf')
  return (Array.isArray(choices) ? choices : []).map((choice) => resolved({ document, part: choice }))
}

function typesOf(schema: unknown): unknown[] {
  const type = at(schema, 'type')
  return Array.isArray(type) ? type : type === undefined ? [] : [type]
}
