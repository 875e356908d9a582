// Fetches the pages of a year with the client, and drops the rows.
import { ExportApi } from '../../connectors/typescript/src/index.ts'

const { EXPORT_API_URL = '', EXPORT_API_KEY = '' } = process.env
const [brandId = '', fromDate, toDate] = process.argv.slice(2)

const api = new ExportApi({ baseUrl: EXPORT_API_URL, apiKey: EXPORT_API_KEY })
for await (const _ of api.citationShare.pages({ brandId, fromDate, toDate }));
