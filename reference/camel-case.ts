/** Returns an endpoint's or a field's name as the TypeScript client writes it. */
export const camelCase = (name: string): string =>
  name.replace(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase())
