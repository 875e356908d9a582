import { DefaultSettings, type Language, TaskUtils } from '@microsoft/powerquery-parser'

// Interprets the part of the Power Query language that connectors/powerbi uses, over the tree of Microsoft's parser.

/** A value: text, number, null, a Table, a Date, a function, a list or a record. Lists and records hold thunks. */
export type Value = unknown
export type Thunk = () => Promise<Value>
type Scope = ReadonlyMap<string, Thunk>
type Func = (...values: readonly Value[]) => Promise<Value> | Value

export class RecordValue extends Map<string, Thunk> {}

/** An error of the language, with the fields of its record. */
export class QueryError extends Error {
  readonly fields: RecordValue
  constructor(message: string, fields: RecordValue) {
    super(message)
    this.fields = fields
  }
}

/** Runs an action when its value is first needed, and once. */
export function lazy(action: () => Promise<Value> | Value): Thunk {
  let value: Promise<Value> | undefined
  return () => {
    value ??= Promise.resolve().then(action)
    return value
  }
}

export const record = (fields: Readonly<Record<string, Value>>): RecordValue =>
  new RecordValue(Object.entries(fields).map(([name, value]) => [name, async () => value]))

export const raise = (reason: string, message: string): never => {
  throw new QueryError(message, record({ Reason: reason, Message: message }))
}

/** Reads a section. Returns its members by name; `library` has what they refer to. */
export async function readSection(source: string, library: Readonly<Record<string, Value>>): Promise<Scope> {
  const parsed = await TaskUtils.tryLexParse(DefaultSettings, source)
  if (!TaskUtils.isParseStageOk(parsed) || parsed.ast.kind !== 'Section') throw new Error('No section')
  const scope = new Map(
    Object.entries(library).map(([name, value]): [string, Thunk] => [name, async () => value]),
  )
  for (const { namePairedExpression } of parsed.ast.sectionMembers.elements) {
    const { key, value } = namePairedExpression
    scope.set(
      key.literal,
      lazy(() => evaluate(value, scope)),
    )
  }
  return scope
}

const nodes = <Node>({ elements }: { readonly elements: readonly { readonly node: Node }[] }): Node[] =>
  elements.map(({ node }) => node)

const nameOf = (literal: string): string => literal.replace(/^#"(.*)"$/, '$1')

async function evaluate(node: Language.Ast.TNode, scope: Scope): Promise<Value> {
  switch (node.kind) {
    case 'LiteralExpression':
      if (node.literalKind === 'Text') return node.literal.slice(1, -1).replaceAll('""', '"')
      return node.literalKind === 'Null' ? null : JSON.parse(node.literal)
    case 'IdentifierExpression':
      return find(scope, node.identifier.literal)
    case 'ParenthesizedExpression':
      return evaluate(node.content, scope)
    case 'ListExpression':
      return nodes(node.content).map((item) => lazy(() => evaluate(item, scope)))
    case 'RecordExpression':
      return new RecordValue(
        nodes(node.content).map(({ key, value }) => [
          nameOf(key.literal),
          lazy(() => evaluate(value, scope)),
        ]),
      )
    case 'LetExpression': {
      const inner = new Map(scope)
      for (const { key, value } of nodes(node.variableList))
        inner.set(
          key.literal,
          lazy(() => evaluate(value, inner)),
        )
      return evaluate(node.expression, inner)
    }
    case 'IfExpression':
      return evaluate(
        (await evaluate(node.condition, scope)) ? node.trueExpression : node.falseExpression,
        scope,
      )
    case 'FunctionExpression': {
      const names = nodes(node.parameters.content).map(({ name }) => name.literal)
      return (...values: readonly Value[]) => {
        const inner = new Map(scope)
        names.forEach((name, index) => {
          inner.set(name, async () => values[index] ?? null)
        })
        return evaluate(node.expression, inner)
      }
    }
    case 'RecursivePrimaryExpression': {
      let value = await evaluate(node.head, scope)
      for (const access of node.recursiveExpressions.elements) value = await apply(value, access, scope)
      return value
    }
    case 'ErrorRaisingExpression': {
      const fields = await evaluate(node.paired, scope)
      if (!(fields instanceof RecordValue)) return raise('Expression.Error', String(fields))
      throw new QueryError(String(await fields.get('Message')?.()), fields)
    }
    case 'ErrorHandlingExpression':
      try {
        const value = await evaluate(node.protectedExpression, scope)
        return node.handler ? value : record({ HasError: false, Value: value })
      } catch (error) {
        if (!(error instanceof QueryError)) throw error
        if (node.handler?.kind === 'OtherwiseExpression') return evaluate(node.handler.paired, scope)
        return record({ HasError: true, Error: error.fields })
      }
    // Types of the shared function are documentation.
    case 'TypePrimaryType':
      return node.paired.kind === 'PrimitiveType' ? `type ${node.paired.primitiveTypeKind}` : null
    case 'MetadataExpression':
      return evaluate(node.left, scope)
    case 'ArithmeticExpression':
    case 'EqualityExpression':
    case 'LogicalExpression':
    case 'RelationalExpression':
      return operate(node, scope)
    default:
      throw new Error(`The interpreter does not know ${node.kind}.`)
  }
}

function find(scope: Scope, name: string): Promise<Value> {
  const thunk = scope.get(name)
  return thunk ? thunk() : raise('Expression.Error', `The name '${name}' wasn't recognized.`)
}

async function apply(
  value: Value,
  access: Language.Ast.TRecursivePrimaryExpression | Language.Ast.TNode,
  scope: Scope,
): Promise<Value> {
  if (access.kind === 'InvokeExpression') {
    if (!isFunction(value)) return raise('Expression.Error', 'Not a function')
    return value(...(await Promise.all(nodes(access.content).map((node) => evaluate(node, scope)))))
  }
  if (access.kind === 'FieldSelector') {
    const name = nameOf(access.content.literal)
    const field = value instanceof RecordValue ? value.get(name) : undefined
    return field ? field() : raise('Expression.Error', `The field '${name}' of the record wasn't found.`)
  }
  if (access.kind === 'ItemAccessExpression' && Array.isArray(value)) {
    const item: Thunk | undefined = value[Number(await evaluate(access.content, scope))]
    return item ? item() : raise('Expression.Error', 'There were not enough elements.')
  }
  throw new Error(`The interpreter does not know ${access.kind}.`)
}

export const isFunction = (value: Value): value is Func => typeof value === 'function'

type Operation =
  | Language.Ast.ArithmeticExpression
  | Language.Ast.EqualityExpression
  | Language.Ast.LogicalExpression
  | Language.Ast.RelationalExpression

async function operate({ left: leftNode, right: rightNode, operatorConstant }: Operation, scope: Scope) {
  const left = await evaluate(leftNode, scope)
  const operator: string = operatorConstant.constantKind
  if (operator === 'and' && left === false) return false
  const right = await evaluate(rightNode, scope)
  if (operator === '&') return concatenate(left, right)
  if (operator === '=' || operator === '<>') return (left === right) === (operator === '=')
  if (operator === 'and') return right
  const [a, b] = [Number(left), Number(right)]
  if (operator === '+') return a + b
  // A time less a duration.
  if (operator === '-') return left instanceof Date ? new Date(a - b) : a - b
  if (operator === '<') return a < b
  if (operator === '>') return a > b
  throw new Error(`The interpreter does not know ${operator}.`)
}

function concatenate(left: Value, right: Value): Value {
  if (left instanceof RecordValue && right instanceof RecordValue) return new RecordValue([...left, ...right])
  if (Array.isArray(left) && Array.isArray(right)) return [...left, ...right]
  if (typeof left === 'string' && typeof right === 'string') return left + right
  return raise('Expression.Error', 'We cannot apply operator &.')
}
