import fc, { type Arbitrary } from 'fast-check'
import type { Field } from './raw-http.ts'

/** Texts that have broken other services, each as the bytes of a request target. */
const TRICKS = [
  ...'\'";()[]{}<>|\\^`~!$*,:@=&#?/.%+-_',
  ...'%00 %0a %0d%0a %09 %20 %25 %2500 %2f %5c %2e%2e %u0041 %4 %zz %ff %c0%af %c0%80 %e0%80%af'.split(' '),
  ...'%ed%a0%80 %ed%a0%bd%ed%b8%80 %f4%90%80%80 %f0%9f%98%80 %ef%bb%bf %e2%80%ae'.split(' '),
  ...'\xff \xc0\xaf \xed\xa0\x80 \xc3\xa9 \xf0\x9f\x98\x80 \xe2\x88\x92 \xd9\xa2 \xef\xbc\x92'.split(' '),
  ..."';select+pg_sleep(9)-- '+or+1=1-- 1;drop+table+brands union%20select%20null $1 $$ E'\\x00'".split(' '),
  ..."-- /* */ || ::uuid '::text {{7*7}} #{7*7} <script> ../ ..%2f // ;jsessionid=1".split(' '),
  ...'null undefined NaN true -1 1e999 [object+Object] __proto__ constructor toString infinity now'.split(
    ' ',
  ),
  ...'0000-01-01 10000-01-01 -0001-01-01 %2b002026-01-01 2026-02-30 2026-10-01T00:00:00Z'.split(' '),
  ...'2026%E2%88%9210%E2%88%9201 %D9%A2%D9%A0%D9%A2%D9%A6-01-01 %EF%BC%92026-01-01'.split(' '),
]

const printable = fc.integer({ min: 0x21, max: 0xff }).filter((code) => code !== 0x7f)

/** Bytes that can stand in a request target: no space, no control character. */
const bytes: Arbitrary<string> = fc
  .array(printable, { maxLength: 24 })
  .map((codes) => String.fromCharCode(...codes))

/** A trick, random bytes, or very much of either. */
export const nasty: Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...TRICKS) },
  { weight: 3, arbitrary: bytes },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...TRICKS).map((trick) => trick.repeat(Math.ceil(16_384 / trick.length))),
  },
)

/** A text with something nasty put into it, or some of it changed. */
export const spoiled = (text: string): Arbitrary<string> =>
  fc.tuple(fc.nat({ max: text.length }), nasty, fc.nat({ max: 5 })).map(([at, trick, how]) => {
    const [before, here, after] = [text.slice(0, at), text.slice(at, at + 1), text.slice(at + 1)]
    const percent = here && `%${here.charCodeAt(0).toString(16).padStart(2, '0')}`
    return (
      [
        before + trick + here + after,
        before + trick + after,
        before + percent + after,
        before + (here === here.toLowerCase() ? here.toUpperCase() : here.toLowerCase()) + after,
        text + trick,
        before,
      ][how] ?? text
    )
  })

/** A text as it is, most of the time, or spoiled. */
export const mostly = (text: string): Arbitrary<string> =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(text) }, { weight: 2, arbitrary: spoiled(text) })

const headerText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...TRICKS),
      fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join('').replace('\x7f', ''))

const NAMES = [
  ...'If-None-Match If-Match If-Modified-Since If-Range Range Accept Accept-Encoding Accept-Language'.split(
    ' ',
  ),
  ...'CF-Connecting-IP X-Forwarded-For X-Real-IP Forwarded X-HTTP-Method-Override X-Original-URL'.split(' '),
  ...'Content-Type Origin Referer User-Agent Access-Control-Request-Method traceparent CF-Ray Via'.split(' '),
  ...'__proto__ constructor Proxy X-API-Keys API-Key Priority Cache-Control Pragma DNT'.split(' '),
]

/** A header that no caller needs, with a value that no caller should send. */
export const header: Arbitrary<Field> = fc.oneof(
  fc.tuple(fc.constantFrom(...NAMES), fc.oneof(headerText, nasty)),
  fc.tuple(
    fc.constantFrom('If-None-Match'),
    fc.constantFrom('*', 'W/', '"', '"",,W/""', '"*"', `"${'0'.repeat(32)}"`),
  ),
  fc.tuple(
    fc.constant('CF-Connecting-IP'),
    fc.constantFrom(
      '::',
      ':::::::::',
      '1.2.3.4, 5.6.7.8',
      '::ffff:999.1.1.1',
      'fe80::1%25eth0',
      '[::1]:80',
      '-',
    ),
  ),
  // A budget of its own, as a session's is shared by all that name it.
  fc
    .tuple(fc.constantFrom('Cookie', 'Authorization'), headerText, fc.uuid())
    .map(([name, text, id]): Field => {
      const session = `session=${id}${text.replaceAll(/[;,]/g, '')}`
      return [name, name === 'Cookie' ? `${text}; ${session}; ${session}` : `Bearer ${text} ${id}`]
    }),
)
