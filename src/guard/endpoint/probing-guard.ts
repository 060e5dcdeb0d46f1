import { setTimeout as sleep } from 'node:timers/promises';
import { retryMs } from '../../flow/backoff.ts';
import { CallError } from '../protocol/call-error.ts';
import { harmlessRow } from '../protocol/canary.ts';
import type { CallOptions, Reading, ReadyGuard } from '../protocol/connection.ts';
import type { ConcurrencyPolicy } from '../concurrency/concurrency.ts';
import type { GuardStreams } from '../streams/guard-streams.ts';
import type { RequestRow, RequestKind } from '../tensors/encode-request.ts';

/** Whether a guard judges requests of a kind. `maybe` means that it has not answered that it does not. */
export type Judges = 'maybe' | 'no probe' | 'not taken';

/** Max attempts with a guard that is too busy to answer. */
const MAX_ATTEMPTS = 5;

/**
 * A guard in use, with what is known about its probes and its version. A guard may declare the AUDIO tensor without
 * having loaded a probe for audio. It is asked once for all audio clips, with a silent one, because normalizing a clip
 * takes longer than judging it. Support for moderation streams is not declared at all: the guard is asked once, with a
 * harmless stream. It is not asked about images, which cost little.
 */
export class ProbingGuard implements ReadyGuard {
  readonly #guard: ReadyGuard;
  readonly #options: CallOptions;
  readonly isReady: ReadyGuard['isReady'];
  readonly judge: ReadyGuard['judge'];
  readonly version: ReadyGuard['version'];
  #reading: Reading | null;
  #asked = new Map<RequestKind, Promise<Judges>>();
  #absent = new Set<RequestKind>();

  /** `options` are for the silent clips. */
  constructor(guard: ReadyGuard, options: CallOptions) {
    this.#guard = guard;
    this.#options = options;
    this.isReady = guard.isReady;
    this.judge = guard.judge;
    const { version } = guard;
    this.#reading = version?.first ?? null;
    this.version = version && {
      first: version.first,
      read: async (readOptions) => this.#noteReading(await version.read(readOptions)),
    };
  }

  /** The last version reading; null for a guard that does not report its version. */
  get reading(): Reading | null {
    return this.#reading;
  }

  get maxBatchSize(): number {
    return this.#guard.maxBatchSize;
  }

  get instances(): number | null {
    return this.#guard.instances;
  }

  get concurrency(): ConcurrencyPolicy {
    return this.#guard.concurrency;
  }

  get streams(): GuardStreams | null {
    return this.#guard.streams;
  }

  takes(requestKind: RequestKind): boolean {
    return this.#guard.takes(requestKind) && !this.#absent.has(requestKind);
  }

  async judges(requestKind: RequestKind): Promise<Judges> {
    if (!this.#guard.takes(requestKind)) return 'not taken';
    if (!isAsked(requestKind)) return 'maybe';
    let asked = this.#asked.get(requestKind);
    if (asked === undefined) {
      asked = this.#ask(requestKind);
      this.#asked.set(requestKind, asked);
    }
    return asked;
  }

  #noteReading(reading: Reading): Reading {
    if (reading.fingerprint.id !== this.#reading?.fingerprint.id) {
      // Another model may have other probes.
      this.#asked = new Map();
      this.#absent = new Set();
    }
    this.#reading = reading;
    return reading;
  }

  async #ask(requestKind: RequestKind): Promise<Judges> {
    const [asked, absent] = [this.#asked, this.#absent];
    const answer = await askForProbe(this.#guard, harmlessRow(requestKind), this.#options);
    // Asked again for the next item.
    if (answer === 'unknown') asked.delete(requestKind);
    if (answer !== 'absent') return 'maybe';
    absent.add(requestKind);
    return 'no probe';
  }
}

function isAsked(requestKind: RequestKind): boolean {
  return requestKind === 'generation' || requestKind === 'audio' || requestKind === 'audio-with-transcript';
}

/** Never rejects: if the guard fails, the following requests will show it. */
async function askForProbe(
  guard: ReadyGuard,
  row: RequestRow,
  options: CallOptions,
): Promise<'present' | 'absent' | 'unknown'> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    try {
      await guard.judge([row], options);
      return 'present';
    } catch (error) {
      if (!(error instanceof CallError)) return 'unknown';
      const { fault } = error;
      // The guard itself has answered before.
      if (fault.kind === 'barred') return 'absent';
      if (fault.kind === 'refused') {
        // A guard without streams may show it in many ways: no such RPC, unknown tensors, a reply of another kind.
        const isAbsent = fault.code === 'PROBE_NOT_LOADED' || row.request.requestType === 'generation';
        return isAbsent ? 'absent' : 'present';
      }
      const isBusy = fault.kind === 'overload' || fault.kind === 'rate' || fault.kind === 'execution';
      if (!isBusy) return 'unknown';
      await sleep(retryMs(attempt), undefined, { signal: options.signal }).catch(() => {});
      if (options.signal.aborted) return 'unknown';
    }
  }
  return 'unknown';
}
