import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: [
    './drizzle/{tables,source}/*.ts',
    // Views are created in the order of these files: the views that other views read come first.
    './drizzle/views/counted-answers.ts',
    './drizzle/views/names.ts',
    './drizzle/{views,daily}/*.ts',
  ],
  out: './drizzle/migrations',
})
