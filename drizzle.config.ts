import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './drizzle/{tables,source,views,daily}/*.ts',
  out: './drizzle/migrations',
})
