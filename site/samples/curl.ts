import { isPaged } from '../reference.ts'
import { addressOf, type SampleRequest } from './request.ts'

/** Writes a shell script for curl and jq that saves each page to a file. */
export function curl(request: SampleRequest): string {
  const { id } = request.endpoint
  const address = quoted(addressOf(request))
  const options = `-sSf --retry 10 -H "X-API-Key: $EXPORT_API_KEY"`
  const key = `# Set the key first: export EXPORT_API_KEY=svc_live_…
# On 429 and 503, curl waits for the seconds in Retry-After and retries.`
  if (!isPaged(request.endpoint)) {
    return `${key}
curl ${options} ${address} > ${id}.json || exit 1

jq -r '.data | "\\(length) rows"' ${id}.json`
  }
  return `${key}
url=${address}

# Save each page to a file in a new folder until hasMore is false.
folder=$(mktemp -d ./${id}-XXXXXX) || exit 1
cursor=''
page=1
while
  curl ${options} \\
    -o "$folder/$page.json" "$url\${cursor:+&cursor=$cursor}" || exit 1
  cursor=$(jq -r '.pagination | select(.hasMore).nextCursor' "$folder/$page.json")
  [ -n "$cursor" ]
do
  page=$((page + 1))
done

jq -sr '"\\(map(.data | length) | add) rows in \\(length) pages"' "$folder"/*.json`
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
