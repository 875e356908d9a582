import { BASE } from '../../lib/http/app.ts'
import { EXAMPLE_ORIGIN } from '../../lib/http/site.ts'
import { firstSentence } from '../reference/first-sentence.ts'
import type { Reference } from '../reference/reference.ts'
import { prose } from './syntax.ts'

const URL = EXAMPLE_ORIGIN + BASE

/** Writes `llms.txt` (https://llmstxt.org): what the service is, and where a program or a language model reads more. */
export const llmsTxt = ({ title, summary, description, pageDescription, endpoints }: Reference): string =>
  `# ${title}

> ${prose(summary)}

${prose(description.split('\n\n')[0] ?? '')}

## Docs

- [Reference as Markdown](${URL}/docs.md): All that a loader needs, with a Python program that keeps an exact copy.
- [OpenAPI 3.1 document](${URL}/openapi.json): The endpoints, parameters, fields and responses for programs.

## Endpoints

${endpoints.map(({ id, description }) => `- [/${id}](${URL}/docs.md#${id}): ${prose(firstSentence(description))}`).join('\n')}

## Optional

- [Reference page](${URL}/docs): ${prose(pageDescription)}
`
