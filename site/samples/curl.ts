import { isPaged } from '../reference.ts'
import { addressOf, type RequestContext } from './request.ts'

/** A shell script with curl and jq: each page into a file of its own. */
export function curl(asked: RequestContext): string {
  const { id } = asked.endpoint
  const address = quoted(addressOf(asked))
  const options = `-sSf --retry 10 -H "X-API-Key: $EXPORT_API_KEY"`
  const key = `# The key comes from the environment: export EXPORT_API_KEY=svc_live_…
# On 429 and 503 curl waits as long as Retry-After says, and asks again.`
  if (!isPaged(asked.endpoint)) {
    return `${key}
curl ${options} ${address} > ${id}.json || exit 1

jq -r '.data | "\\(length) rows"' ${id}.json`
  }
  return `${key}
url=${address}

# One file a page, in a new folder, until hasMore is false.
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
