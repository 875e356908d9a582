import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: [
    './drizzle/{tables,source}/*.ts',
    // Views are created in the order of these files: the views that other views read come first.
    './drizzle/metrics/counted-answers.ts',
    './drizzle/metrics/names.ts',
    './drizzle/metrics/*.ts',
  ],
  out: './drizzle/migrations',
})
