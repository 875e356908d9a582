import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: ['./drizzle/tables/*.ts', './drizzle/views/*.ts', './drizzle/daily/*.ts'],
  out: './drizzle/migrations',
})
