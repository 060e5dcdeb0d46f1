import { setTimeout as sleep } from 'node:timers/promises';
import type { MediaKind } from '../../domain/request.ts';
import { retryMs } from '../../flow/backoff.ts';
import { CallError } from '../protocol/call-error.ts';
import { silentClip } from '../protocol/canary.ts';
import type { CallOptions, ReadyGuard } from '../protocol/connection.ts';
import type { ConcurrencyPolicy } from '../concurrency/concurrency.ts';
import { type RequestRow, type Signature, signatureOfMedia } from '../tensors/encode-request.ts';

/** Whether a guard judges media of a kind: `maybe` as long as it has not said that it has no probe for them. */
export type Judges = 'maybe' | 'no probe' | 'not taken';

/** Times a guard is asked again that was too busy to answer. */
const MAX_TRIES = 5;

/**
 * A guard in use, and what it has said of itself: a guard may take audio by its tensors and have no probe that hears.
 * It is asked once for all clips, with a silent one, since bringing each into normal form takes longer than to judge
 * it. Images are not asked about: what they cost is little.
 */
export class KnownProbes implements ReadyGuard {
  readonly #guard: ReadyGuard;
  readonly #options: CallOptions;
  #asked = new Map<Signature, Promise<Judges>>();
  #absent = new Set<Signature>();

  /** `options`: of the questions it asks. */
  constructor(guard: ReadyGuard, options: CallOptions) {
    this.#guard = guard;
    this.#options = options;
  }

  get maxBatchSize(): number {
    return this.#guard.maxBatchSize;
  }

  get concurrency(): ConcurrencyPolicy {
    return this.#guard.concurrency;
  }

  get version(): ReadyGuard['version'] {
    return this.#guard.version;
  }

  judge(...call: Parameters<ReadyGuard['judge']>): ReturnType<ReadyGuard['judge']> {
    return this.#guard.judge(...call);
  }

  takes(signature: Signature): boolean {
    return this.#guard.takes(signature) && !this.#absent.has(signature);
  }

  async judges(kind: MediaKind): Promise<Judges> {
    const signature = signatureOfMedia(kind);
    if (!this.#guard.takes(signature)) return 'not taken';
    if (kind.modality === 'image') return 'maybe';
    let asked = this.#asked.get(signature);
    if (asked === undefined) {
      asked = this.#ask(kind.described, signature);
      this.#asked.set(signature, asked);
    }
    return asked;
  }

  /** Another model is deployed: what was said of the one before does not hold. */
  forget(): void {
    this.#asked = new Map();
    this.#absent = new Set();
  }

  async #ask(described: boolean, signature: Signature): Promise<Judges> {
    const [asked, absent] = [this.#asked, this.#absent];
    const answer = await askForProbe(
      this.#guard,
      { request: silentClip(described), sessionId: '' },
      this.#options,
    );
    // What was not answered is asked again, for the next item.
    if (answer === 'unknown') asked.delete(signature);
    if (answer !== 'absent') return 'maybe';
    absent.add(signature);
    return 'no probe';
  }
}

/** Never rejects: of a guard that fails the work with it will tell. */
async function askForProbe(
  guard: ReadyGuard,
  row: RequestRow,
  options: CallOptions,
): Promise<'present' | 'absent' | 'unknown'> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    try {
      await guard.judge([row], options);
      return 'present';
    } catch (error) {
      if (!(error instanceof CallError)) return 'unknown';
      const { fault } = error;
      if (fault.kind === 'refused') return fault.code === 'PROBE_NOT_LOADED' ? 'absent' : 'present';
      const isBusy = fault.kind === 'overload' || fault.kind === 'rate' || fault.kind === 'execution';
      if (!isBusy) return 'unknown';
      await sleep(retryMs(tries), undefined, { signal: options.signal }).catch(() => {});
      if (options.signal.aborted) return 'unknown';
    }
  }
  return 'unknown';
}
