import { answerChanges } from './answer.ts'
import { at, entries, isRecord, member, type Part, resolved, text, withoutProse } from './part.ts'

/**
 * Every way in which an OpenAPI document takes away what the one before promised to those who read from the API, a
 * sentence each. It knows the parts of OpenAPI that this service's document is made of.
 */
export function breakingChanges(before: unknown, now: unknown): string[] {
  const changes: string[] = []
  const old = { document: before, part: at(before, 'paths') }
  const fresh = { document: now, part: at(now, 'paths') }
  for (const [path, was] of entries(old)) {
    const is = member(fresh, path)
    if (is === undefined) changes.push(`${path} is gone`)
    else changes.push(...operationChanges(path, member(was, 'get'), member(is, 'get')))
  }
  if (text(at(before, 'security')) !== text(at(now, 'security')))
    changes.push('how a key is sent has changed')
  const schemes = (document: unknown) => withoutProse(at(at(document, 'components'), 'securitySchemes'))
  if (text(schemes(before)) !== text(schemes(now))) changes.push('the form of keys has changed')
  return changes
}

function operationChanges(path: string, was: Part | undefined, is: Part | undefined): string[] {
  if (was === undefined) return []
  if (is === undefined) return [`GET ${path} is gone`]
  const answers = entries(member(was, 'responses'))
  return [
    ...parameterChanges(path, was, is),
    ...answers.flatMap(([status, answered]) => {
      const answers = member(member(is, 'responses'), status)
      const where = `${status} of ${path}`
      if (answers === undefined) return [`${where} is gone`]
      return [
        ...entries(member(answered, 'headers')).flatMap(([name, header]) => {
          const kept = member(member(answers, 'headers'), name)
          if (kept === undefined) return [`the header ${name} of ${where} is gone`]
          return answerChanges(
            `the header ${name} of ${where}`,
            member(header, 'schema'),
            member(kept, 'schema'),
          )
        }),
        ...entries(member(answered, 'content')).flatMap(([type, content]) => {
          const kept = member(member(answers, 'content'), type)
          if (kept === undefined) return [`${where} is no ${type} any more`]
          return answerChanges(where, member(content, 'schema'), member(kept, 'schema'))
        }),
      ]
    }),
    ...entries(member(is, 'responses'))
      .filter(([status]) => !answers.some(([known]) => known === status))
      .map(([status]) => `${status} of ${path} is new: callers do not expect it`),
  ]
}

/** What is sent may be wanted less strictly than before, never more. */
function parameterChanges(path: string, was: Part, is: Part): string[] {
  const old = parametersOf(was)
  const fresh = parametersOf(is)
  return [
    ...[...old].flatMap(([name, parameter]) => {
      const kept = fresh.get(name)
      const what = `the parameter ${name} of ${path}`
      if (kept === undefined) return [`${what} is gone`]
      const [before, now] = [withoutProse(at(parameter, 'schema')), withoutProse(at(kept, 'schema'))]
      return [
        ...(at(kept, 'required') === true && at(parameter, 'required') !== true
          ? [`${what} must be given now`]
          : []),
        ...(text(before) === text(now) || isLooser(before, now) ? [] : [`${what} must look otherwise now`]),
      ]
    }),
    ...[...fresh]
      .filter(([name, parameter]) => !old.has(name) && at(parameter, 'required') === true)
      .map(([name]) => `the new parameter ${name} of ${path} must be given`),
  ]
}

function parametersOf(operation: Part): Map<string, unknown> {
  const list = at(operation.part, 'parameters')
  const found = (Array.isArray(list) ? list : []).map((part) => resolved({ ...operation, part }).part)
  return new Map(found.map((parameter) => [`${at(parameter, 'name')}`, parameter]))
}

/** Whether a schema of what is sent lost constraints and nothing else. */
function isLooser(before: unknown, now: unknown): boolean {
  return (
    isRecord(before) &&
    isRecord(now) &&
    Object.keys(now).every((name) => text(now[name]) === text(before[name]))
  )
}
