import { Fifo } from '../../flow/fifo.ts';
import { CallError } from '../protocol/call-error.ts';
import type { CallOptions } from '../protocol/connection.ts';
import {
  type Cadence,
  NOTHING_JUDGED,
  type StreamRequest,
  type StreamVerdict,
} from '../tensors/stream/stream-messages.ts';
import { GuardStreamError } from './guard-stream-error.ts';
import type { ConnectStream, StreamTransport } from './stream-transport.ts';
import { VerdictSequence } from './verdict-sequence.ts';

/** How long the server may take to end the stream after the final verdict, in milliseconds. */
const CLOSE_TIMEOUT_MS = 1000;

export interface StreamStart {
  /** For correlation; may be empty. */
  readonly streamId: string;
  readonly prompt: string;
  /** Null for the server's default. */
  readonly cadence: Cadence | null;
}

/** A verdict, and how far it lagged behind the text. */
export interface VerdictArrival {
  readonly verdict: StreamVerdict;
  /** Null if replies do not name one. */
  readonly modelVersion: string | null;
  /** Chunks sent but not covered by the verdict; 0 for a verdict that repeats an earlier one. */
  readonly lagChunks: number;
  /** Longest wait of the chunks that this verdict is the first to cover; 0 if it covers no new chunk. */
  readonly lagMs: number;
}

interface GenerationStreamOptions extends CallOptions {
  readonly start: StreamStart;
  /** Max chunks without a verdict; the next chunk waits for one. */
  readonly maxAhead: number;
  /** Takes each verdict. */
  readonly received: (arrival: VerdictArrival) => void;
}

interface Waiter {
  readonly ready: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * The client's side of one moderation stream (contract: "States and transitions"), whatever its transport.
 *
 *              send(chunk)                    final verdict, then the server's end
 *              ┌───────┐        end()                (or CLOSE_TIMEOUT_MS)
 *   (new) ──► Open ◄───┘ ───────────────► Final ──────────────────────────► Terminated
 *              │                           │                                     ▲
 *              └───────────────────────────┴─────────────────────────────────────┘
 *                error from the server, a reply against the contract, no progress in time, abort, close()
 *
 * `timeoutMs` limits how long the server may make no progress while it must: from the end of the stream, or while a
 * message cannot be sent, until a verdict judges more or the message is taken. Verdicts given before an error are
 * valid. The transport is closed on every way into Terminated.
 */
export class GenerationStream {
  /** Resolves after the final verdict; rejects with `CallError`, or with the signal's reason. */
  readonly finished: Promise<void>;
  readonly #options: GenerationStreamOptions;
  readonly #transport: StreamTransport;
  readonly #verdicts = new VerdictSequence();
  /** Send times of the chunks without a verdict, by `performance.now()`. */
  readonly #unjudged = new Fifo<number>();
  readonly #abort = (): void => this.#terminate(this.#options.signal.reason as Error);
  #state: 'open' | 'final' | 'terminated' = 'open';
  /** Messages sent, which is also the seq of the next. */
  #sent = 0;
  /** Whether the transport took everything. */
  #drained = true;
  #waiter: Waiter | null = null;
  /** Runs while the server must make progress, and after the final verdict. */
  #timer: NodeJS.Timeout | null = null;
  #error: Error | null = null;
  #settle!: (error: Error | null) => void;

  /** Throws the signal's reason when it is aborted. */
  constructor(connect: ConnectStream, options: GenerationStreamOptions) {
    options.signal.throwIfAborted();
    this.#options = options;
    this.finished = new Promise((resolve, reject) => {
      this.#settle = (error) => (error === null ? resolve() : reject(error));
    });
    // The caller may not be waiting for it.
    this.finished.catch(() => {});
    options.signal.addEventListener('abort', this.#abort, { once: true });
    this.#transport = connect({
      verdict: (verdict, modelVersion) => this.#receive(verdict, modelVersion),
      drained: () => this.#drain(),
      ended: () => this.#end(),
      failed: (error) => this.#fail(error),
    });
  }

  /** Sends the next chunk. Resolves when the transport took it. Must not be called concurrently. */
  async send(chunk: string): Promise<void> {
    if (chunk === '') throw new GuardStreamError('INVALID_ARGUMENT', 'a chunk is empty');
    this.#assertOpen();
    await this.#waitUntil(() => this.#unjudged.size < this.#options.maxAhead);
    this.#unjudged.add(performance.now());
    await this.#write(chunk, false);
  }

  /** Ends the text. Resolves when the transport took the message; the final verdict comes later. */
  async end(): Promise<void> {
    this.#assertOpen();
    if (this.#sent === 0)
      throw new GuardStreamError('FAILED_PRECONDITION', 'the stream ends before any chunk');
    this.#state = 'final';
    this.#expectProgress();
    await this.#write(null, true);
  }

  /** Ends the stream at once; `finished` rejects with this error unless it is settled. Idempotent. */
  close(error: Error = new GuardStreamError('CANCELLED', 'the stream was closed')): void {
    this.#terminate(error);
  }

  #assertOpen(): void {
    if (this.#state === 'final') throw new GuardStreamError('FAILED_PRECONDITION', 'the stream has ended');
    if (this.#state === 'terminated')
      throw this.#error ?? new GuardStreamError('FAILED_PRECONDITION', 'the stream has ended');
  }

  async #write(chunk: string | null, endOfStream: boolean): Promise<void> {
    const { streamId, prompt, cadence } = this.#options.start;
    const isFirst = this.#sent === 0;
    const request: StreamRequest = {
      streamId,
      seq: this.#sent++,
      prompt: isFirst ? prompt : null,
      chunk,
      endOfStream,
      cadence: isFirst ? cadence : null,
    };
    this.#drained = this.#transport.write(request);
    await this.#waitUntil(() => this.#drained);
  }

  #waitUntil(ready: () => boolean): Promise<void> {
    if (this.#state === 'terminated' && this.#error !== null) return Promise.reject(this.#error);
    if (ready()) return Promise.resolve();
    this.#expectProgress();
    return new Promise((resolve, reject) => {
      this.#waiter = { ready, resolve, reject };
    });
  }

  #wake(): void {
    if (this.#waiter?.ready() !== true) return;
    const { resolve } = this.#waiter;
    this.#waiter = null;
    if (this.#state === 'open') this.#clearTimer();
    resolve();
  }

  #receive(verdict: StreamVerdict, modelVersion: string | null): void {
    const before = this.#verdicts.processedUntilSeq;
    const lastSeq = this.#sent === 0 ? NOTHING_JUDGED : this.#sent - 1;
    const fault = this.#verdicts.add(verdict, { lastSeq, ended: this.#state === 'final' });
    if (fault !== null) {
      this.#terminate(invalidReply(fault));
      return;
    }
    // The closing message has its own seq and no chunk.
    const covered = this.#unjudged.take(verdict.processedUntilSeq - before);
    const lagMs = covered[0] === undefined ? 0 : performance.now() - covered[0];
    const lagChunks = covered.length === 0 ? 0 : this.#unjudged.size;
    this.#options.received({ verdict, modelVersion, lagChunks, lagMs });
    if (this.#state === 'terminated') return;
    if (verdict.isFinal) this.#startTimer(CLOSE_TIMEOUT_MS, () => this.#terminate(null));
    else if (covered.length > 0) this.#progressed();
  }

  #drain(): void {
    this.#drained = true;
    this.#progressed();
  }

  #end(): void {
    this.#terminate(
      this.#verdicts.final === null ? invalidReply('the stream ended without a final verdict') : null,
    );
  }

  /** Handles a failure. After the final verdict, only an unexpected message counts as an error. */
  #fail(error: CallError): void {
    const { fault } = error;
    const isInvalid = fault.kind === 'refused' && fault.code === 'INVALID_REPLY';
    this.#terminate(this.#verdicts.final === null || isInvalid ? error : null);
  }

  #progressed(): void {
    if (this.#timer !== null && this.#verdicts.final === null) {
      this.#clearTimer();
      this.#expectProgress();
    }
    this.#wake();
  }

  #expectProgress(): void {
    if (this.#timer !== null) return;
    this.#startTimer(this.#options.timeoutMs, () => {
      this.#terminate(new CallError('no progress in time', { kind: 'attempt', code: 'TIMEOUT' }));
    });
  }

  #startTimer(ms: number, action: () => void): void {
    this.#clearTimer();
    this.#timer = setTimeout(action, ms);
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #terminate(error: Error | null): void {
    if (this.#state === 'terminated') return;
    this.#state = 'terminated';
    this.#error = error;
    this.#clearTimer();
    this.#options.signal.removeEventListener('abort', this.#abort);
    this.#transport.close();
    const waiter = this.#waiter;
    this.#waiter = null;
    if (error === null) waiter?.resolve();
    else waiter?.reject(error);
    this.#settle(error);
  }
}

function invalidReply(what: string): CallError {
  return new CallError(what, { kind: 'refused', code: 'INVALID_REPLY', named: false });
}
