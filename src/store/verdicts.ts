import { crc32 } from 'node:zlib';
import type { Fingerprint } from '../domain/fingerprint.ts';
import type { Judgement } from '../domain/outcome.ts';
import { BytesReader } from './bytes-reader.ts';
import { BytesWriter, DoesNotFit } from './bytes-writer.ts';
import type { Environment, Table } from './environment.ts';
import { Fingerprints } from './fingerprints.ts';
import { JUDGED_BY_BYTES, markOf, type JudgedBy } from './judged-by.ts';
import { ORIGIN_BYTES, Origins, type Origin } from './origins.ts';
import { readJudgement, writeJudgement } from './verdict-codec.ts';

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
  /** As in `JudgedBy`. */
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

const CONTENT_BYTES = 32;
const KEY_BYTES = CONTENT_BYTES + JUDGED_BY_BYTES;
const CHECK_BYTES = 4;
const JUDGEMENT_AT = CHECK_BYTES + ORIGIN_BYTES;
/** A judgement of a guard that keeps to the taxonomy takes at most 250 bytes. */
const MAX_ENTRY_BYTES = 1024;

/** Entries that are copied in one transaction. */
const COPIED_AT_ONCE = 4096;

/**
 * The verdicts of a store. The key of an entry is the content's SHA-256 and the mark of `JudgedBy`. Its value is a
 * CRC-32 over the key and the rest of the value, the mark of its origin, and the judgement. An entry whose check fails
 * does not count.
 */
export class Verdicts {
  readonly #environment: Environment;
  readonly #table: Table;
  readonly #fingerprints: Fingerprints;
  readonly #origins: Origins;
  /** The key that is being looked up, and the entry that is being encoded. */
  readonly #key = Buffer.alloc(KEY_BYTES);
  readonly #entry = Buffer.alloc(MAX_ENTRY_BYTES);

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#table = environment.table('verdicts');
    this.#fingerprints = new Fingerprints(environment);
    this.#origins = new Origins(environment);
  }

  find(contentSha256: string, judgedBy: JudgedBy): StoredVerdict | null {
    const mark = markOf(judgedBy);
    fillKey(this.#key, contentSha256, mark);
    const value = this.#environment.get(this.#table, this.#key);
    if (value === null || !isIntact(this.#key, value)) return null;
    // The next look-up, that of the origin, overwrites the value.
    const encoded = readJudgement(new BytesReader(value, JUDGEMENT_AT));
    const origin = this.#origins.get(value.subarray(CHECK_BYTES, JUDGEMENT_AT));
    const fingerprint = this.#fingerprints.get(judgedBy.fingerprint);
    if (origin === null || fingerprint === null) return null;
    const { run, endpoint } = origin;
    return {
      judgement: { ...encoded, fingerprint: fingerprint.id, endpoint, stream: null },
      fingerprint,
      run,
    };
  }

  /** Adds verdicts as a part of the write that is being filled; what an entry cannot hold is left out. */
  put({ run, judging, fingerprints, verdicts }: JudgedVerdicts): void {
    const marks = new Map<string, Buffer>();
    for (const fingerprint of fingerprints) {
      this.#fingerprints.put(fingerprint);
      marks.set(fingerprint.id, markOf({ fingerprint: fingerprint.id, judging }));
    }
    const origins = new Map<string, Buffer>();
    for (const { contentSha256, judgement } of verdicts) {
      const { endpoint, stream } = judgement;
      const mark = marks.get(judgement.fingerprint ?? '');
      if (mark === undefined || stream !== null) continue;
      let origin = origins.get(endpoint);
      if (origin === undefined) origins.set(endpoint, (origin = this.#origins.put({ run, endpoint })));
      this.#putOne(contentSha256, judgement, mark, origin);
    }
  }

  /** Number of verdicts. */
  get count(): number {
    return (this.#table.getStats() as { entryCount: number }).entryCount;
  }

  /** Copies the intact verdicts of some runs to another store. Rejects with the signal's reason when aborted. */
  async copyTo(other: Verdicts, isCopied: (run: string) => boolean, signal: AbortSignal): Promise<void> {
    const fingerprints = this.#fingerprints.all();
    let batch: { key: Buffer; value: Buffer; origin: Origin }[] = [];
    const write = async (): Promise<void> => {
      const written = batch;
      batch = [];
      await other.#environment.write(() => {
        for (const fingerprint of fingerprints) other.#fingerprints.put(fingerprint);
        for (const { origin } of written) other.#origins.put(origin);
        for (const { key, value } of written) other.#environment.put(other.#table, key, value);
      });
      signal.throwIfAborted();
    };
    for (const { key, value } of this.#table.getRange()) {
      if (!isIntact(key, value)) continue;
      const origin = this.#origins.get(value.subarray(CHECK_BYTES, JUDGEMENT_AT));
      if (origin !== null && isCopied(origin.run)) batch.push({ key, value, origin });
      if (batch.length >= COPIED_AT_ONCE) await write();
    }
    await write();
  }

  #putOne(contentSha256: string, judgement: Judgement, mark: Buffer, origin: Buffer): void {
    const writer = new BytesWriter(this.#entry, CHECK_BYTES);
    try {
      writer.raw(origin);
      writeJudgement(writer, judgement);
    } catch (error) {
      if (error instanceof DoesNotFit) return;
      throw error;
    }
    const key = Buffer.alloc(KEY_BYTES);
    fillKey(key, contentSha256, mark);
    const value = Buffer.from(this.#entry.subarray(0, writer.end));
    value.writeUInt32LE(checkOf(key, value), 0);
    this.#environment.put(this.#table, key, value);
  }
}

/** Whether an entry is as it was written. */
function isIntact(key: Buffer, value: Buffer): boolean {
  return value.length > JUDGEMENT_AT && value.readUInt32LE(0) === checkOf(key, value);
}

function fillKey(key: Buffer, contentSha256: string, mark: Buffer): void {
  key.write(contentSha256, 0, CONTENT_BYTES, 'hex');
  mark.copy(key, CONTENT_BYTES);
}

function checkOf(key: Buffer, value: Buffer): number {
  return crc32(value.subarray(CHECK_BYTES), crc32(key));
}
