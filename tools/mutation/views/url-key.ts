import type { Mutant, Twin } from './mutant.ts'

const CHARACTERS = (path: string) => `${path} serves URLs of any characters as they are`
const file = 'functions/citation-share'

/** The changes of a URL's key, in a view that has one. */
export const urlKeyMutants = (path: string): (Mutant | Twin)[] => [
  {
    sql: "encode(substr(sha256(convert_to(cited.url, 'UTF8')), 1, 16), 'hex')::uuid",
    becomes: 'md5(cited.url)::uuid',
    fails: `${path} tells URLs apart whose MD5 is the same`,
    file,
  },
  {
    sql: "encode(substr(sha256(convert_to(cited.url, 'UTF8')), 1, 16), 'hex')::uuid",
    becomes: "'00000000-0000-0000-0000-000000000000'::uuid",
    fails: CHARACTERS(path),
    file,
  },
  { sql: "'UTF8'", becomes: "'LATIN1'", fails: CHARACTERS(path), file, needs: 'encodings' },
  {
    sql: "convert_to(cited.url, 'UTF8')",
    becomes: 'decode(md5(cited.url), $$hex$$)',
    fails: `${path} tells URLs apart whose MD5 is the same`,
    file,
  },
  { sql: '1, 16)', becomes: '1, 15)', fails: CHARACTERS(path), file },
  { sql: '1, 16)', becomes: '17, 16)', same: 'Either half of a hash tells URLs apart as well.' },
  { sql: "'hex')::uuid", becomes: "'base64')::uuid", fails: CHARACTERS(path), file },
  { sql: 'cited.url collate "C"', becomes: 'cited.url', same: 'URLs are ordered by their keys.' },
]
