import { type Endpoint, isPaged, listsChanges } from '../../reference/reference.ts'
import { addressOf, type SampleRequest, storingComment, tableOf, USER_AGENT } from './request.ts'

/** Writes a shell script for curl and jq that replaces the pulled days in a file of the brand. */
export function curl(request: SampleRequest): string {
  const { endpoint } = request
  return `# Requires curl 7.71 or later, and jq (1.7 or later keeps 100.0000).
# Set the key first: export EXPORT_API_KEY=svc_live_…
# Save as pull.sh, then run: sh pull.sh
url=${quoted(addressOf(request))}
# ${USER_AGENT.comment}
agent='${USER_AGENT.value}'
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM

# Saves one response. Retries dropped connections, 429 and 5xx. Shows
# other errors and stops: with --fail, curl would retry those as well.
get() {
  status=$(curl -sS --retry 6 --retry-all-errors --max-time 60 \\
    -A "$agent" -H "X-API-Key: $EXPORT_API_KEY" \\
    -o "$2" -w '%{http_code}' "$1") || exit 1
  [ "$status" = 200 ] || { cat "$2" >&2; exit 1; }
}

${isPaged(endpoint) ? pages(endpoint) : allRows(endpoint)}`
}

function allRows(endpoint: Endpoint): string {
  const table = tableOf(endpoint)
  return `get "$url" "$folder/1.json"

${storingComment(endpoint, '#')}
jq -c '.data[]' "$folder/1.json" > "${table}.$$" &&
  mv "${table}.$$" ${table}.ndjson || exit 1
wc -l ${table}.ndjson`
}

function pages(endpoint: Endpoint): string {
  const table = tableOf(endpoint)
  return `# Follow nextCursor until hasMore is false.
cursor=''
page=1
while
  get "$url\${cursor:+&cursor=$cursor}" "$folder/$page.json"
  cursor=$(jq -r '.pagination | select(.hasMore).nextCursor' \\
    "$folder/$page.json") || exit 1
  [ -n "$cursor" ]
do
  page=$((page + 1))
done

${storingComment(endpoint, '#')}
mkdir -p ${table}
file=${table}/$(jq -r '.meta.brandId' "$folder/1.json").ndjson
touch "$file"
${listsChanges(endpoint) ? keepLatest(endpoint) : REPLACE_DAYS}

jq -sr '"\\(map(.data | length) | add) rows in \\(length) pages"' \\
  "$folder"/*.json`
}

const REPLACE_DAYS = `jq -c --slurpfile page "$folder/1.json" '
  ($page[0].meta | [.fromDate[:10], .toDate[:10]]) as [$first, $last]
  | select(.date < $first or .date > $last)' \\
  "$file" > "$file.$$" &&
  jq -c '{brand_id: .meta.brandId} + .data[]' "$folder"/*.json \\
    >> "$file.$$" &&
  mv "$file.$$" "$file" || exit 1`

const keepLatest = ({
  primaryKey,
}: Endpoint): string => `jq -c '{brand_id: .meta.brandId} + .data[]' "$folder"/*.json \\
  > "$folder/rows" &&
  jq -cs 'group_by(${primaryKey.map((name) => `.${name}`).join(', ')})[] | max_by(.changed_at)' \\
    "$file" "$folder/rows" > "$file.$$" &&
  mv "$file.$$" "$file" || exit 1`

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
