/** Stands in for a store of PropertiesService, whose values have at most 9 kB. */
export function properties() {
  const values = new Map<string, string>()
  const setProperty = (name: string, value: string) => {
    if (value.length > 9000) throw new Error('Argument too large: value')
    values.set(name, String(value))
  }
  return {
    read: (): Record<string, string> => Object.fromEntries(values),
    service: {
      getProperty: (name: string) => values.get(name) ?? null,
      getProperties: () => Object.fromEntries(values),
      getKeys: () => [...values.keys()],
      setProperty,
      setProperties: (many: Record<string, string>) => {
        for (const [name, value] of Object.entries(many)) setProperty(name, value)
      },
      deleteProperty: (name: string) => values.delete(name),
    },
  }
}

/** Stands in for ScriptApp with its triggers by time. */
export function scripts() {
  let all: { readonly handler: string; readonly getHandlerFunction: () => string }[] = []
  const newTrigger = (handler: string) => {
    const builder = {
      timeBased: () => builder,
      after: (ms: number) => builder.from(ms),
      everyDays: (days: number) => builder.from(days),
      atHour: (hour: number) => builder.from(hour),
      from: (value: number) => {
        if (!Number.isInteger(value)) throw new Error('Invalid argument')
        return builder
      },
      create: () => {
        all.push({ handler, getHandlerFunction: () => handler })
      },
    }
    return builder
  }
  return {
    triggers: () => all.map(({ handler }) => handler),
    scriptApp: {
      newTrigger,
      getProjectTriggers: () => all,
      deleteTrigger: (trigger: object) => {
        all = all.filter((other) => other !== trigger)
      },
    },
  }
}
