import type { StreamRequest } from '../../guard/tensors/stream/stream-messages.ts';
import type { StatusName } from '../../guard/tensors/stream/stream-status.ts';
import { DueText } from './due-text.ts';
import type { PrefixJudge, PrefixReport, StreamJudging } from './prefix-judge.ts';
import type { StreamLimits } from './stream-limits.ts';
import { contradiction, readSettings, type StreamSettings } from './stream-settings.ts';
import { transitionOf, type StreamEvent, type StreamState } from './stream-state.ts';
import type { UnjudgedText } from './unjudged-text.ts';

/** Why a stream ended. The text never quotes content. */
export interface StreamError {
  readonly status: StatusName;
  readonly text: string;
}

/** Receives the output of a stream. */
export interface StreamSink {
  /** Takes a verdict. Returns false if the client reads too slowly: nothing is judged until `resume` is called. */
  verdict(report: PrefixReport): boolean;
  /** Called once, as the last call, when the stream is terminated. Null if it is complete. */
  ended(error: StreamError | null): void;
}

export interface StreamResources {
  readonly judging: StreamJudging;
  readonly limits: StreamLimits;
  readonly unjudged: UnjudgedText;
}

/** Settings from the first message of a stream. */
interface Begun {
  readonly settings: StreamSettings;
  readonly due: DueText;
  readonly judge: PrefixJudge;
}

/**
 * One moderation stream on the server, whatever its transport (states: stream-state.ts). Verdicts are given on the
 * cadence while messages arrive: `processedUntilSeq` never decreases, and verdicts never improve. With a cadence in
 * chunks, verdicts depend only on the chunks and not on their timing.
 */
export class ModerationStream {
  readonly #sink: StreamSink;
  readonly #resources: StreamResources;
  #state: StreamState = 'open';
  #begun: Begun | null = null;
  #lastSeq = -1;
  /** Code units counted in `resources.unjudged`. */
  #counted = 0;
  #isSinkFull = false;
  #isFinalSent = false;
  #hasClientEnded = false;
  /** Ends a stream whose client is idle, or stays after the final verdict. */
  #patience: NodeJS.Timeout;
  /** Ends a stream whose oldest due text waits too long. */
  #lag: NodeJS.Timeout | undefined;
  /** The next point of a cadence in milliseconds. */
  #tick: NodeJS.Timeout | undefined;
  #isTickDue = false;

  constructor(sink: StreamSink, resources: StreamResources) {
    this.#sink = sink;
    this.#resources = resources;
    const { idleMs } = resources.limits;
    this.#patience = setTimeout(
      () => this.#apply('client left', 'the client has sent nothing for too long'),
      idleMs,
    );
  }

  /** The latest verdict; null before the first valid message. */
  get last(): PrefixReport | null {
    return this.#begun?.judge.last ?? null;
  }

  /** Handles a readable message. Returns whether it makes a verdict due, which is given later. */
  receive(request: StreamRequest): boolean {
    if (this.#state !== 'open') {
      this.#apply(
        request.endOfStream ? 'end after content' : 'chunk',
        'the stream has ended: open a new one',
      );
      return false;
    }
    const hasText = request.chunk !== null && request.chunk !== '';
    if (request.endOfStream && !hasText && this.#begun === null) {
      this.#apply('end before content', 'the stream ends before any text');
      return false;
    }
    const fault = this.#check(request) ?? (this.#begun === null ? this.#begin(request) : null);
    if (fault !== null) this.#apply('invalid message', fault);
    return fault === null && this.#take(request, this.#begun!.due);
  }

  /** Handles an unreadable message. */
  receiveInvalid(fault: string): void {
    this.#apply('invalid message', this.#state === 'open' ? fault : 'the stream has ended: open a new one');
  }

  /** Called when the client will send nothing more, but still reads. */
  clientEnded(): void {
    this.#hasClientEnded = true;
    if (this.#state === 'open') this.#apply('client left', 'the client ended the stream early');
    else if (this.#isFinalSent) this.#apply('completed', '');
  }

  /** Called when the client is gone: disconnected, or cancelled. */
  clientLeft(): void {
    this.#apply(this.#isFinalSent ? 'completed' : 'client left', 'the client left');
  }

  /** Called when the sink accepts verdicts again. */
  resume(): void {
    this.#isSinkFull = false;
    this.#advance();
  }

  /** Ends the stream for a reason of the server. */
  end(event: 'limit exceeded' | 'not available', text: string): void {
    this.#apply(event, text);
  }

  /** The reason why a message in state `open` is invalid; null if it is valid and not the first. */
  #check({ seq, chunk, endOfStream, ...request }: StreamRequest): string | null {
    if (seq <= this.#lastSeq) return 'seq is not higher than that of the message before';
    if (!endOfStream && (chunk === null || chunk === '')) return 'the text chunk is empty';
    return this.#begun === null ? null : contradiction(request, this.#begun.settings);
  }

  /** Applies the settings of the first message. Returns why they are invalid, or null. */
  #begin(request: StreamRequest): string | null {
    const { limits, judging } = this.#resources;
    const settings = readSettings(request, limits);
    if (typeof settings === 'string') return settings;
    const fault = judging.faultOfPrompt(settings.prompt);
    if (fault !== null) return fault;
    const due = new DueText(settings.cadence);
    const judge = judging.judge(settings, due, {
      judged: (report) => this.#send(report),
      failed: (event, text) => this.#apply(event, text),
      evaluated: () => this.#evaluated(),
    });
    this.#begun = { settings, due, judge };
    return null;
  }

  #take({ seq, chunk, endOfStream }: StreamRequest, due: DueText): boolean {
    this.#lastSeq = seq;
    let isDue = true;
    if (endOfStream) {
      clearTimeout(this.#patience);
      clearTimeout(this.#tick);
      due.end(chunk, seq);
      this.#apply('end after content', '');
    } else {
      this.#patience.refresh();
      isDue = due.add(chunk!, seq);
      this.#apply('chunk', '');
      this.#scheduleTick();
    }
    if (this.#count(due)) this.#advance();
    else this.#apply('limit exceeded', 'more text waits for a verdict than the server buffers');
    return isDue;
  }

  /** Counts the waiting text. Returns false when it exceeds the limits. */
  #count(due: DueText): boolean {
    const { limits, unjudged } = this.#resources;
    if (due.units > limits.unjudgedText || due.chunks > limits.unjudgedChunks) return false;
    if (!unjudged.add(due.units - this.#counted)) return false;
    this.#counted = due.units;
    return true;
  }

  #scheduleTick(): void {
    const { settings, due } = this.#begun!;
    if (settings.cadence.unit !== 'ms' || this.#tick !== undefined || !due.hasUndue) return;
    this.#tick = setTimeout(() => this.#ticked(), settings.cadence.every);
  }

  /** Handles a point of the cadence. Text that becomes due during an evaluation is left to one point after it. */
  #ticked(): void {
    this.#tick = undefined;
    const { due, judge } = this.#begun!;
    this.#isTickDue = judge.isBusy;
    if (!this.#isTickDue) due.tick();
    this.#advance();
  }

  #advance(): void {
    if (this.#state === 'terminated' || this.#isSinkFull || this.#begun === null) return;
    this.#begun.judge.advance();
    if (this.#lag === undefined) this.#watchLag();
  }

  #watchLag(): void {
    clearTimeout(this.#lag);
    this.#lag = undefined;
    const [oldest] = this.#begun!.due.points;
    if (oldest === undefined) return;
    const leftMs = oldest.sinceMs + this.#resources.limits.lagMs - performance.now();
    const text = 'the verdicts lag too far behind the text';
    this.#lag = setTimeout(() => this.#apply('limit exceeded', text), Math.max(0, leftMs));
  }

  #send(report: PrefixReport): void {
    if (!this.#sink.verdict(report)) this.#isSinkFull = true;
    if (!report.verdict.isFinal) return;
    this.#isFinalSent = true;
    if (this.#hasClientEnded) this.#apply('completed', '');
    else {
      const { lingerMs } = this.#resources.limits;
      this.#patience = setTimeout(() => this.#apply('completed', ''), lingerMs);
    }
  }

  #evaluated(): void {
    if (this.#state === 'terminated') return;
    const { due } = this.#begun!;
    this.#count(due);
    if (this.#isTickDue) {
      this.#isTickDue = false;
      due.tick();
    }
    this.#watchLag();
    if (this.#state === 'open') this.#scheduleTick();
    this.#advance();
  }

  /** The only place that changes the state. */
  #apply(event: StreamEvent, text: string): void {
    const transition = transitionOf(this.#state, event);
    if (transition === null) return;
    this.#state = transition.to;
    const { status } = transition;
    if (status === null) return;
    clearTimeout(this.#patience);
    clearTimeout(this.#lag);
    clearTimeout(this.#tick);
    this.#begun?.judge.stop();
    this.#resources.unjudged.add(-this.#counted);
    this.#counted = 0;
    this.#sink.ended(status === 'OK' ? null : { status, text });
  }
}
