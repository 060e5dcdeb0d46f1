import { hash } from 'node:crypto';
import { restoreFingerprint, type Fingerprint } from '../domain/fingerprint.ts';
import type { Judgement } from '../domain/outcome.ts';
import type { Environment } from './environment.ts';
import { SealedTable } from './sealed-table.ts';
import { decodeVerdict, encodeVerdict, ORIGIN_BYTES, originIn } from './verdict-bytes.ts';

/**
 * Inputs of a verdict besides its content: the model, and how items are judged that are not sent to it as one piece.
 */
export interface JudgedBy {
  /** Id of the guard's fingerprint. */
  readonly fingerprint: string;
  /** Canonical text of everything else that a verdict depends on. */
  readonly judging: string;
}

/** A verdict that may be reused. */
export interface Verdict {
  readonly contentSha256: string;
  /** Verdicts of unknown models and of generations are not stored. */
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

/** A verdict found in the store. */
export interface StoredVerdict {
  readonly judgement: Judgement;
  readonly fingerprint: Fingerprint;
  /** Name of the run that judged it. */
  readonly run: string;
}

/** Common data of a run's verdicts by one guard. */
type Origin = readonly [run: string, endpoint: string, artifacts: readonly (readonly [string, string])[]];

interface KnownOrigin {
  readonly fingerprint: Fingerprint;
  readonly run: string;
  readonly endpoint: string;
}

const CONTENT_BYTES = 32;
const MARK_BYTES = 8;
/** Bytes of the mark at the start of a key, so verdicts of one model are adjacent; part of the content hash follows. */
const MARK_FIRST_BYTES = 2;
const KEY_BYTES = MARK_FIRST_BYTES + 8;

/** Maximum origins kept in memory: a growing corpus is judged by many runs. */
const MAX_CACHED = 4096;

/** The verdicts of a store, by the content's SHA-256 and a mark of `JudgedBy`. */
export class Verdicts {
  readonly #environment: Environment;
  readonly #rows: SealedTable;
  readonly #origins: SealedTable;
  readonly #cache = new Map<number, KnownOrigin>();

  constructor(environment: Environment, key: Buffer | null) {
    this.#environment = environment;
    this.#rows = new SealedTable(environment, 'verdicts', key, KEY_BYTES);
    this.#origins = new SealedTable(environment, 'origins', key, ORIGIN_BYTES);
  }

  find(contentSha256: string, judgedBy: JudgedBy): StoredVerdict | null {
    const bytes = this.#rows.get(verdictKey(contentSha256, judgedBy));
    if (bytes === null) return null;
    const mark = originIn(bytes);
    const from = this.#cache.get(mark);
    // Reading the origin overwrites the bytes.
    if (from === undefined)
      return this.#readOrigin(mark) === null ? null : this.find(contentSha256, judgedBy);
    const { fingerprint, run, endpoint } = from;
    if (fingerprint.id !== judgedBy.fingerprint) return null;
    return { judgement: decodeVerdict(bytes, { fingerprint: fingerprint.id, endpoint }), fingerprint, run };
  }

  /** Adds verdicts. Resolves when there is room for more. */
  add({ run, judging, fingerprints, verdicts }: JudgedVerdicts): Promise<void> {
    const models = new Map(
      fingerprints.map((model) => [model.id, { model, by: { fingerprint: model.id, judging } }]),
    );
    const marks = new Map<string, number>();
    for (const { contentSha256, judgement } of verdicts) {
      const judged = models.get(judgement.fingerprint ?? '');
      if (judged === undefined || judgement.stream !== null) continue;
      const from = `${judgement.fingerprint} ${judgement.endpoint}`;
      let mark = marks.get(from);
      if (mark === undefined)
        marks.set(from, (mark = this.#putOrigin(run, judgement.endpoint, judged.model)));
      const bytes = encodeVerdict(mark, judgement);
      if (bytes !== null) this.#rows.put(verdictKey(contentSha256, judged.by), bytes);
    }
    return this.#environment.room();
  }

  /** Number of verdicts. */
  get count(): number {
    return this.#rows.count;
  }

  /** Copies the verdicts of some runs to another store. Rejects with the signal's reason when aborted. */
  async copyTo(other: Verdicts, isCopied: (run: string) => boolean, signal: AbortSignal): Promise<void> {
    const isOfThem = (mark: number): boolean => {
      const from = this.#cache.get(mark) ?? this.#readOrigin(mark);
      return from !== null && isCopied(from.run);
    };
    await this.#origins.copyTo(other.#origins, (key) => isOfThem(originIn(key)), signal);
    await this.#rows.copyTo(other.#rows, (_, bytes) => isOfThem(originIn(bytes)), signal);
  }

  #putOrigin(run: string, endpoint: string, { artifacts }: Fingerprint): number {
    const origin = JSON.stringify([run, endpoint, Object.entries(artifacts)] satisfies Origin);
    const key = hash('sha256', origin, 'buffer').subarray(0, ORIGIN_BYTES);
    this.#origins.put(key, Buffer.from(origin));
    return originIn(key);
  }

  #readOrigin(mark: number): KnownOrigin | null {
    const bytes = this.#origins.get(originKey(mark));
    if (bytes === null) return null;
    const [run, endpoint, artifacts] = JSON.parse(bytes.toString()) as Origin;
    const fingerprint = restoreFingerprint(Object.fromEntries(artifacts));
    if (fingerprint === null) return null;
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    const found = { fingerprint, run, endpoint };
    this.#cache.set(mark, found);
    return found;
  }
}

function originKey(mark: number): Buffer {
  const key = Buffer.alloc(ORIGIN_BYTES);
  key.writeUIntBE(mark, 0, ORIGIN_BYTES);
  return key;
}

/** Cached marks: callers look up many contents with the same object. */
const marks = new WeakMap<JudgedBy, Buffer>();

function verdictKey(contentSha256: string, judgedBy: JudgedBy): Buffer {
  let mark = marks.get(judgedBy);
  if (mark === undefined) {
    mark = hash('sha256', `${judgedBy.fingerprint}\n${judgedBy.judging}`, 'buffer').subarray(0, MARK_BYTES);
    marks.set(judgedBy, mark);
  }
  const key = Buffer.allocUnsafe(CONTENT_BYTES + MARK_BYTES);
  mark.copy(key);
  // The end of the mark follows the content.
  key.write(contentSha256, MARK_FIRST_BYTES, CONTENT_BYTES, 'hex');
  mark.copy(key, MARK_FIRST_BYTES + CONTENT_BYTES, MARK_FIRST_BYTES);
  return key;
}
