import { hash } from 'node:crypto';
import type { Coverage } from '../domain/coverage.ts';
import { restoreFingerprint, type Fingerprint } from '../domain/fingerprint.ts';
import type { Judgement } from '../domain/outcome.ts';
import { packScores, unpackScores } from '../domain/taxonomy.ts';
import type { Environment } from './environment.ts';
import { SealedTable } from './sealed-table.ts';

/** What a verdict depends on besides its content: the model, and how items are judged that do not go to it in one piece. */
export interface JudgedBy {
  /** Id of the guard's fingerprint. */
  readonly fingerprint: string;
  /** Canonical text of everything else that a verdict depends on. */
  readonly judging: string;
}

/** A verdict that may be used again. */
export interface Verdict {
  readonly contentSha256: string;
  /** A verdict of an unknown model, and one of a generation, is not stored. */
  readonly judgement: Judgement;
}

/** Verdicts of a run, all judged with the same options. */
export interface JudgedVerdicts {
  /** Name of the run. */
  readonly run: string;
  /** Same key as in `JudgedBy`. */
  readonly judging: string;
  /** The fingerprints that the judgements refer to. */
  readonly fingerprints: readonly Fingerprint[];
  readonly verdicts: readonly Verdict[];
}

/** A verdict that was found. */
export interface StoredVerdict {
  readonly judgement: Judgement;
  readonly fingerprint: Fingerprint;
  /** Name of the run that judged it. */
  readonly run: string;
}

/** A verdict as it is stored: the mark of its origin, and what is its own. */
type Row = readonly [
  origin: number,
  score: number,
  flagged: boolean,
  /** In the order of the taxonomy; null for one that is absent. */
  scores: readonly (number | string | null)[] | null,
  flags: Judgement['subcategoryFlags'],
  latencyMs: number,
  attempts: number,
  cacheUsage: Judgement['cacheUsage'],
  /** In milliseconds since the Unix epoch. */
  moderatedAt: number,
  coverage: readonly [unit: Coverage['unit'], judged: number, total: number, worstAt: number | null],
];

/** What the verdicts of a run by one guard have in common. */
type Origin = readonly [run: string, endpoint: string, artifacts: readonly (readonly [string, string])[]];

const CONTENT_BYTES = 32;
const MARK_BYTES = 8;
const ORIGIN_BYTES = 6;

/** Origins kept in memory: a corpus that grows is judged by many runs. */
const MAX_CACHED = 4096;

/** The verdicts of a store, by the content's SHA-256 and a mark of `JudgedBy`. */
export class Verdicts {
  readonly #environment: Environment;
  readonly #rows: SealedTable<Row>;
  readonly #origins: SealedTable<Origin>;
  readonly #cache = new Map<number, { readonly fingerprint: Fingerprint; readonly origin: Origin }>();

  constructor(environment: Environment, key: Buffer | null) {
    this.#environment = environment;
    this.#rows = new SealedTable(environment, 'verdicts', key);
    this.#origins = new SealedTable(environment, 'origins', key);
  }

  find(contentSha256: string, judgedBy: JudgedBy): StoredVerdict | null {
    const row = this.#rows.get(verdictKey(contentSha256, judgedBy));
    const from = row && this.#originOf(row[0]);
    if (!from || from.fingerprint.id !== judgedBy.fingerprint) return null;
    const [run, endpoint] = from.origin;
    const scores = row[3];
    const coverage = row[9];
    // By index, since taking a long array apart is slow.
    const judgement: Judgement = {
      score: row[1],
      flagged: row[2],
      subcategoryScores: scores && unpackScores(scores),
      subcategoryFlags: row[4],
      fingerprint: judgedBy.fingerprint,
      endpoint,
      latencyMs: row[5],
      attempts: row[6],
      cacheUsage: row[7],
      moderatedAt: new Date(row[8]).toISOString(),
      coverage: { unit: coverage[0], judged: coverage[1], total: coverage[2], worst_at: coverage[3] },
      stream: null,
    };
    return { judgement, fingerprint: from.fingerprint, run };
  }

  /** Adds verdicts, in one transaction. Resolves when they are stored, or cannot be. */
  add({ run, judging, fingerprints, verdicts }: JudgedVerdicts): Promise<void> {
    const models = new Map(fingerprints.map((fingerprint) => [fingerprint.id, fingerprint]));
    return this.#environment.write(verdicts.length, () => {
      const marks = new Map<string, number>();
      const by = new Map(fingerprints.map(({ id }) => [id, { fingerprint: id, judging }]));
      let moderatedAt = '';
      let moderatedMs = NaN;
      for (const { contentSha256, judgement } of verdicts) {
        const { fingerprint, endpoint, coverage, subcategoryScores: scores } = judgement;
        const model = models.get(fingerprint ?? '');
        // Those of one reply have one time.
        if (judgement.moderatedAt !== moderatedAt) {
          moderatedAt = judgement.moderatedAt;
          moderatedMs = Date.parse(moderatedAt);
        }
        if (model === undefined || judgement.stream !== null || Number.isNaN(moderatedMs)) continue;
        const from = `${model.id} ${endpoint}`;
        let mark = marks.get(from);
        if (mark === undefined) marks.set(from, (mark = this.#putOrigin(run, endpoint, model)));
        const row: Row = [
          mark,
          judgement.score,
          judgement.flagged,
          scores && packScores(scores),
          judgement.subcategoryFlags,
          judgement.latencyMs,
          judgement.attempts,
          judgement.cacheUsage,
          moderatedMs,
          [coverage.unit, coverage.judged, coverage.total, coverage.worst_at],
        ];
        this.#rows.put(verdictKey(contentSha256, by.get(model.id)!), row);
      }
    });
  }

  /** Number of verdicts. */
  get count(): number {
    return this.#rows.count;
  }

  /** Copies the verdicts of some runs to another store. Rejects with the signal's reason when aborted. */
  async copyTo(other: Verdicts, isCopied: (run: string) => boolean, signal: AbortSignal): Promise<void> {
    await this.#origins.copyTo(other.#origins, ([run]) => isCopied(run), signal);
    const isOfThem = ([mark]: Row): boolean => isCopied(this.#originOf(mark)?.origin[0] ?? '');
    await this.#rows.copyTo(other.#rows, isOfThem, signal);
  }

  #putOrigin(run: string, endpoint: string, { artifacts }: Fingerprint): number {
    const origin: Origin = [run, endpoint, Object.entries(artifacts)];
    const mark = hash('sha256', JSON.stringify(origin), 'buffer').readUIntBE(0, ORIGIN_BYTES);
    this.#origins.put(originKey(mark), origin);
    return mark;
  }

  #originOf(mark: number): { readonly fingerprint: Fingerprint; readonly origin: Origin } | null {
    const cached = this.#cache.get(mark);
    if (cached !== undefined) return cached;
    const origin = this.#origins.get(originKey(mark));
    const fingerprint = origin && restoreFingerprint(Object.fromEntries(origin[2]));
    if (!fingerprint) return null;
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    const found = { fingerprint, origin };
    this.#cache.set(mark, found);
    return found;
  }
}

function originKey(mark: number): Buffer {
  const key = Buffer.alloc(ORIGIN_BYTES);
  key.writeUIntBE(mark, 0, ORIGIN_BYTES);
  return key;
}

/** Callers look up many contents with the same object, so the mark is kept with it. */
const marks = new WeakMap<JudgedBy, Buffer>();

function verdictKey(contentSha256: string, judgedBy: JudgedBy): Buffer {
  let mark = marks.get(judgedBy);
  if (mark === undefined) {
    mark = hash('sha256', `${judgedBy.fingerprint}\n${judgedBy.judging}`, 'buffer').subarray(0, MARK_BYTES);
    marks.set(judgedBy, mark);
  }
  const key = Buffer.alloc(CONTENT_BYTES + MARK_BYTES);
  key.write(contentSha256, 0, CONTENT_BYTES, 'hex');
  mark.copy(key, CONTENT_BYTES);
  return key;
}
