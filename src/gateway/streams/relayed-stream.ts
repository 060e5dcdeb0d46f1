import { Fifo } from '../../flow/fifo.ts';
import type { GuardPool } from '../../guard/pool/pool.ts';
import { GuardStreamError } from '../../guard/streams/guard-stream-error.ts';
import type { GuardStream } from '../../guard/streams/guard-stream.ts';
import { NOTHING_JUDGED, type StreamVerdict } from '../../guard/tensors/stream/stream-messages.ts';
import type { DuePoint, DueText } from '../../http/streams/due-text.ts';
import type { JudgeEvents, PrefixJudge, PrefixReport } from '../../http/streams/prefix-judge.ts';
import type { StreamSettings } from '../../http/streams/stream-settings.ts';
import { relayFault } from './relay-fault.ts';

/**
 * How long a message waits for its own verdict before it is answered with the latest one, in milliseconds. A guard with
 * its own cadence may wait for more text, which a client that waits for its reply would never send.
 */
const REPLY_MS = 2000;

/** A due point whose text was sent. */
interface SentPoint {
  readonly point: DuePoint;
  /** The guard's seq of the last text up to here. */
  readonly seq: number;
}

/**
 * Relays the pending text of one stream to a stream of a guard. The text of each point is one chunk, after which a
 * verdict is requested. So the cadence is the client's whatever the guard's, and the verdicts are the same as from the
 * guard directly.
 */
export class RelayedStream implements PrefixJudge {
  readonly #due: DueText;
  readonly #events: JudgeEvents;
  readonly #stopping = new AbortController();
  /** The sent points at the start of the pending text. */
  readonly #sent = new Fifo<SentPoint>();
  #last: PrefixReport = NO_REPORT;
  /** Null until it is open. */
  #stream: GuardStream | null = null;
  #isSending = false;
  /** Chunks sent to the guard. */
  #chunks = 0;
  /** Number of sent points that were answered with an earlier verdict. */
  #answered = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(pool: GuardPool, settings: StreamSettings, due: DueText, events: JudgeEvents) {
    this.#due = due;
    this.#events = events;
    this.#relay(pool, settings).catch((error: unknown) => this.#fail(error));
  }

  get last(): PrefixReport {
    return this.#last;
  }

  get isBusy(): boolean {
    return this.#due.points.length > 0;
  }

  advance(): void {
    if (this.#stream === null || this.#isSending) return;
    this.#send(this.#stream).catch((error: unknown) => this.#fail(error));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stopping.abort(new GuardStreamError('CANCELLED', 'the stream of the client has ended'));
  }

  async #relay(pool: GuardPool, { streamId, prompt }: StreamSettings): Promise<void> {
    const { signal } = this.#stopping;
    const cadence = { unit: 'chunks', every: 1 } as const;
    this.#stream = await pool.openStream({ streamId, prompt, cadence, signal });
    this.advance();
    for await (const verdict of this.#stream.verdicts) this.#receive(verdict);
  }

  async #send(stream: GuardStream): Promise<void> {
    this.#isSending = true;
    try {
      while (true) {
        const point = this.#due.points[this.#sent.size];
        if (point === undefined || this.#stopping.signal.aborted) return;
        const pieces = piecesOf(point.text);
        this.#chunks += pieces.length;
        this.#sent.add({ point, seq: this.#chunks - 1 });
        this.#timer ??= setTimeout(() => this.#answerWaiting(), REPLY_MS);
        for (const piece of pieces) await stream.send(piece);
        if (point.isFinal) await stream.end();
      }
    } finally {
      this.#isSending = false;
    }
  }

  #receive(verdict: StreamVerdict): void {
    if (this.#stopping.signal.aborted) return;
    let { processedUntilSeq } = this.#last.verdict;
    const judged: DuePoint[] = [];
    for (let next = this.#sent.first; next !== undefined; next = this.#sent.first) {
      const isCovered = next.seq <= verdict.processedUntilSeq;
      if (!verdict.isFinal && (!isCovered || next.point.isFinal)) break;
      this.#sent.take(1);
      this.#due.shift();
      if (isCovered) processedUntilSeq = next.point.seq;
      judged.push(next.point);
    }
    if (judged.length === 0) return;
    for (const { isFinal } of judged) {
      this.#last = { verdict: { ...verdict, processedUntilSeq, isFinal }, modelVersion: '' };
      const isAnswered = this.#answered > 0;
      if (isAnswered) this.#answered--;
      if (isFinal || !isAnswered) this.#events.judged(this.#last);
    }
    if (this.#stopping.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#sent.size > this.#answered) this.#timer = setTimeout(() => this.#answerWaiting(), REPLY_MS);
    this.#events.evaluated();
  }

  #answerWaiting(): void {
    this.#timer = undefined;
    for (; this.#answered < this.#sent.size; this.#answered++) this.#events.judged(this.#last);
  }

  #fail(error: unknown): void {
    if (this.#stopping.signal.aborted) return;
    const { event, text } = relayFault(error);
    this.#events.failed(event, text);
  }
}

const NO_REPORT: PrefixReport = {
  verdict: {
    processedUntilSeq: NOTHING_JUDGED,
    flagged: false,
    needsCaution: false,
    score: null,
    latencyMs: 0,
    isFinal: false,
  },
  modelVersion: '',
};

/** Max code units of a piece; each takes up to three bytes, which stays below MAX_STREAM_TEXT_BYTES. */
const MAX_PIECE = 256 * 1024;

/** Cuts text between characters into pieces that fit in a message to a guard. Empty text has no pieces. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = start + MAX_PIECE;
    const isInPair = end < text.length && text.codePointAt(end - 1)! > 0xffff;
    const piece = text.slice(start, isInPair ? end - 1 : end);
    pieces.push(piece);
    start += piece.length;
  }
  return pieces;
}
