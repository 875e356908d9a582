import pg from 'pg'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { metricsOf, verify } from '../../drizzle/db/verify.ts'
import { differences } from '../fixtures/differences.ts'
import { seededRandom } from '../fixtures/random.ts'
import { checkAsOf } from './as-of.ts'
import { brand, CHANGES, type Change, uuid } from './changes.ts'
import { BEGINNING, CLEARANCE } from './histories.ts'
import { settles } from './locks.ts'

/** A database, and what may happen in it. */
export type Ground = {
  readonly url: string
  /** SQL that undoes changes of the schema. */
  readonly restore?: string
  /** Changes beyond the usual ones. */
  readonly changes: Readonly<Record<string, Change>>
  /** Whether these need a session that checks no foreign keys (`session_replication_role`). */
  readonly needReplica: boolean
}

/** A session whose transactions stay open while others act. */
type Session = {
  readonly role: Role
  readonly name: string
  readonly client: pg.Client
  readonly pid: number
  open: boolean
  /** Whether the transaction checks no foreign keys. */
  replica: boolean
  /** The statement that runs, or waits for a lock. */
  work: Promise<void> | undefined
}

/** A blocker stops a refresh half way: it locks a table of stored rows for writing. */
const ROLES = ['writer', 'writer', 'writer', 'resolver', 'refresh', 'refresh', 'blocker'] as const
type Role = (typeof ROLES)[number]

/** Steps of a writer whose transaction is open, by how often they are picked. */
const WEIGHTS = { change: 12, commit: 5, rollback: 1, savepoint: 2, undo: 1, prepare: 2 }
const STEPS = Object.entries(WEIGHTS).flatMap(([step, weight]) => Array<string>(weight).fill(step))

const LEVELS = ['read committed', 'read committed', 'repeatable read', 'serializable']

/** Takes a brand from the keys that read it, or gives it back: then all its days are listed. */
const toggleBrand: Change = (a) => `update brands set active = not active where id = ${brand(a)}`

/** These move rows between brands and days, which meets most other changes. */
const FREQUENT = [
  ...[CHANGES.moveAnswer, CHANGES.askAnswer, CHANGES.movePrompt, CHANGES.addCitation].flatMap(
    (change) => change ?? [],
  ),
  toggleBrand,
]

/** Brands that became readable and whose days are not listed. */
const UNLISTED = `
  select to_jsonb(entry) as entry from daily.brand_log as entry
  union all select to_jsonb(queued) from daily.queued_brands as queued where returned`

const BRANDS = [uuid(1, 0), uuid(1, 1)]

/** What comes before each interleaving. */
const BEGIN = `
  ${CLEARANCE}; ${BEGINNING};
  insert into sentiment_phrases (id, answer_id, polarity, confidence)
    select ('00000007-0000-4000-8000-00000000000' || n)::uuid, ('00000003-0000-4000-8000-00000000000' || n % 5)::uuid,
      'positive', 0.5 from generate_series(0, 9) as n`

/**
 * What Postgres may answer to a writer: a deadlock, a serialization failure, or that a row or a partition is not as a
 * change needs it.
 */
const WRITER_ERRORS = new Set([
  ...['40P01', '40001', '23503', '23505', '23514', '42P01', '42P07', '42P17', '42809', '55006'],
])

/** A refresh gives up when a table stays locked. Writers that lock two tables against reading can meet it half way. */
const REFRESH_ERRORS = new Set(['55P03'])
const REFRESH_ERRORS_NEXT_TO_EXCLUSIVE_LOCKS = new Set(['55P03', '40P01'])
const TAKES_EXCLUSIVE_LOCK = /truncate|alter table|drop table/

/** Opens sessions that play interleavings one after the other. */
export async function openInterleavings(ground: Ground) {
  const clients: pg.Client[] = []
  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: ground.url })
    clients.push(client)
    await client.connect()
    return client
  }
  const observer = await connect()
  const judge = await connect()
  const sessions: Session[] = []
  for (const [number, role] of ROLES.entries()) {
    const client = await connect()
    const { rows } = await client.query('select pg_backend_pid() as pid')
    const state = { open: false, replica: false, work: undefined }
    sessions.push({ role, name: `${role} ${number}`, client, pid: rows[0].pid, ...state })
  }
  const writers = sessions.filter(({ role }) => role === 'writer')
  const metrics = await metricsOf(observer)
  const { rows: settings } = await observer.query(
    `select current_setting('max_prepared_transactions')::integer > 0 as two_phase`,
  )

  async function reset(): Promise<void> {
    for (const session of sessions) {
      await session.work
      await session.client.query('rollback')
      Object.assign(session, { open: false, replica: false })
    }
    await endPrepared('rollback')
    await observer.query(`${ground.restore ?? ''}; ${BEGIN}`)
    await refreshAll(observer)
  }

  async function endPrepared(how: 'commit' | 'rollback'): Promise<void> {
    const { rows } = await observer.query(
      'select gid from pg_prepared_xacts where database = current_database()',
    )
    for (const { gid } of rows) await observer.query(`${how} prepared '${gid}'`)
  }

  /** Plays an interleaving. Returns what was wrong and, if anything was, the statements. */
  async function play(seed: number): Promise<string[]> {
    const { below, chance, pick, some } = seededRandom(seed)
    await reset()
    const asOf = await checkAsOf(judge, BRANDS)
    await asOf.record()
    const usual = [...some(Object.values(CHANGES), 0.12), ...FREQUENT]
    const unusual = some(Object.values(ground.changes), 0.4)
    const inReplica = chance(0.4)
    const trace: string[] = []
    const wrong: string[] = []
    const prepared: string[] = []
    let commits = 0

    /** Sends a statement and waits until it, and each that it may have freed, has ended or waits for a lock. */
    async function send(session: Session, sql: string, after: () => void = () => {}): Promise<void> {
      trace.push(`${session.name}: ${sql}`)
      session.work = session.client
        .query(sql)
        .then(after, (error: unknown) => giveUp(session, error))
        .finally(() => {
          session.work = undefined
        })
      for (let before = Number.POSITIVE_INFINITY; working().length < before; ) {
        before = working().length
        for (const { work, pid } of working()) if (work) await settles(observer, work, pid)
      }
      if (commits > 0) await asOf.record(commits - 1)
      commits = 0
    }

    const working = () => sessions.filter(({ work }) => work)

    async function giveUp(session: Session, error: unknown): Promise<void> {
      const code = error instanceof pg.DatabaseError ? (error.code ?? '') : String(error)
      trace.push(`${session.name} failed: ${code}`)
      const exclusive = trace.some((line) => TAKES_EXCLUSIVE_LOCK.test(line))
      const expected =
        session.role === 'writer'
          ? WRITER_ERRORS
          : exclusive
            ? REFRESH_ERRORS_NEXT_TO_EXCLUSIVE_LOCKS
            : REFRESH_ERRORS
      if (!expected.has(code)) wrong.push(`${session.name} failed: ${error}`)
      await session.client.query('rollback')
      session.open = false
    }

    function commit(session: Session): Promise<void> {
      return send(session, 'commit', () => {
        session.open = false
        if (session.role === 'writer') commits += 1
      })
    }

    function begin(session: Session): Promise<void> {
      const gid = prepared.shift()
      if (gid !== undefined && chance(0.5)) return endOne(session, gid)
      if (gid !== undefined) prepared.push(gid)
      session.open = true
      session.replica = inReplica && chance(0.6)
      const replica = session.replica ? 'set local session_replication_role = replica;' : ''
      return send(
        session,
        `begin isolation level ${pick(LEVELS)}; ${replica} savepoint s; select count(*) from answers`,
      )
    }

    const endOne = (session: Session, gid: string): Promise<void> =>
      chance(0.8)
        ? send(session, `commit prepared '${gid}'`, () => {
            commits += 1
          })
        : send(session, `rollback prepared '${gid}'`)

    function change({ replica }: Session): string {
      const allowed = replica || !ground.needReplica
      const make = pick(allowed && unusual.length > 0 && chance(0.5) ? unusual : usual)
      return make(below(12), below(12), below(12), below(12))
    }

    async function write(session: Session, step: string): Promise<void> {
      if (!session.open) return begin(session)
      if (step === 'commit') return commit(session)
      if (step === 'savepoint') return send(session, 'savepoint s')
      if (step === 'undo') return send(session, 'rollback to savepoint s')
      if (step === 'rollback')
        return send(session, 'rollback', () => {
          session.open = false
        })
      if (step === 'prepare' && settings[0].two_phase) {
        // The names are the whole server's.
        const gid = `${session.pid} ${trace.length}`
        return send(session, `prepare transaction '${gid}'`, () => {
          session.open = false
          prepared.push(gid)
        })
      }
      return send(session, change(session))
    }

    /** Resolves or refreshes once in a transaction, which commits at the next step. */
    async function compute(session: Session, role: Exclude<Role, 'writer'>): Promise<void> {
      if (session.open && chance(0.8)) return commit(session)
      if (session.open)
        return send(session, 'rollback', () => {
          session.open = false
        })
      session.open = true
      const calls = {
        resolver: 'select daily.resolve()',
        refresh: `select daily.refresh(null, '${pick([0, 5])} s', ${1 + below(4)})`,
        blocker: `lock table daily.${pick(metrics)} in exclusive mode`,
      }
      await send(session, `begin; ${calls[role]}`)
      if (chance(0.5) && !session.work && session.open) await commit(session)
    }

    async function endAll(): Promise<void> {
      for (;;) {
        const ready = sessions.find(({ open, work }) => open && !work)
        const gid = prepared.shift()
        if (gid !== undefined) {
          await observer.query(`commit prepared '${gid}'`)
          await asOf.record()
        } else if (ready) await commit(ready)
        else if (working().length > 0) await Promise.race(working().map(({ work }) => work))
        else return
      }
    }

    for (let left = 20 + below(25); left > 0 && wrong.length === 0; left -= 1) {
      const session = pick(chance(0.3) ? writers : sessions)
      if (session.work) continue
      if (session.role === 'writer') await write(session, pick(STEPS))
      else await compute(session, session.role)
      if (chance(0.3)) wrong.push(...(await asOf.violations()))
    }
    await endAll()
    await observer.query('select daily.start_refresh(true)')
    await observer.query(`select daily.refresh(null, '1 min', 31)`)
    for (const difference of await differences(observer)) wrong.push(JSON.stringify(difference))
    for await (const difference of verify(observer, {})) wrong.push(JSON.stringify(difference))
    for (const { entry } of (await observer.query(UNLISTED)).rows) wrong.push(JSON.stringify(entry))
    wrong.push(...(await asOf.violations()), ...(await asOf.behind()))
    return wrong.length === 0 ? [] : [...wrong, ...trace]
  }

  return {
    play,
    close: async () => {
      // A database with prepared transactions cannot be dropped.
      await endPrepared('rollback')
      await Promise.all(clients.map((client) => client.end()))
    },
  }
}
