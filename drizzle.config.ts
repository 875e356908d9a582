import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './drizzle/{tables,views,daily}/*.ts',
  out: './drizzle/migrations',
})
