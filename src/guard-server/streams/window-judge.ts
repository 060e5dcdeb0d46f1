import { NOTHING_JUDGED } from '../../guard/tensors/stream/stream-messages.ts';
import type { DuePoint, DueText } from '../../http/streams/due-text.ts';
import type { JudgeEvents, PrefixJudge, PrefixReport } from '../../http/streams/prefix-judge.ts';
import type { StreamEvent } from '../../http/streams/stream-state.ts';
import { RequestError, type RequestErrorCode } from '../contract/request-error.ts';
import type { GuardService } from '../service/guard-service.ts';
import { type Generation, judgeWindows, type WindowScore } from './judge-windows.ts';
import type { EvaluationSlots } from './evaluation-slots.ts';
import { Windows } from './windows.ts';

/** Max windows of one evaluation. */
export const MAX_WINDOWS = 8;

/** State shared by all streams of a server. */
export interface JudgingResources {
  readonly service: GuardService;
  readonly slots: EvaluationSlots;
}

/** The windows of one due point that still need judging. */
interface Pending {
  readonly windows: string[];
  readonly startedMs: number;
}

/** The part of a point that one evaluation judges: all remaining windows, or the first of them. */
interface Part extends Pending {
  readonly point: DuePoint;
  readonly completes: boolean;
}

/**
 * Judges the pending text of one stream, one evaluation at a time. An evaluation takes the points that became due while
 * the last one ran, up to MAX_WINDOWS, and gives a verdict for each of them.
 */
export class WindowJudge implements PrefixJudge {
  readonly #resources: JudgingResources;
  readonly #generation: Generation;
  readonly #due: DueText;
  readonly #events: JudgeEvents;
  readonly #windows = new Windows();
  readonly #verdict = new PrefixVerdict();
  /** The rest of the oldest point after an earlier evaluation. */
  #pending: Pending | null = null;
  /** Ends the evaluation that runs or waits for a slot. */
  #endTurn: (() => void) | null = null;
  #withdraw: (() => void) | null = null;
  #isStopped = false;

  constructor(resources: JudgingResources, generation: Generation, due: DueText, events: JudgeEvents) {
    this.#resources = resources;
    this.#generation = generation;
    this.#due = due;
    this.#events = events;
  }

  get last(): PrefixReport {
    return this.#verdict.last;
  }

  get isBusy(): boolean {
    return this.#endTurn !== null;
  }

  advance(): void {
    if (this.#isStopped || this.isBusy || this.#due.points.length === 0) return;
    this.#endTurn = this.#resources.slots.take(() => this.#evaluate());
  }

  stop(): void {
    this.#isStopped = true;
    this.#withdraw?.();
    this.#endTurn?.();
    this.#endTurn = null;
  }

  #evaluate(): void {
    const { service } = this.#resources;
    const parts = this.#plan();
    const windows = parts.flatMap((part) => part.windows);
    if (windows.length === 0) this.#finish(parts, []);
    else {
      this.#withdraw = judgeWindows(service, this.#generation, windows, (results) =>
        this.#finish(parts, results),
      );
    }
  }

  #plan(): Part[] {
    const parts: Part[] = [];
    let room = MAX_WINDOWS;
    for (const point of this.#due.points) {
      const { windows, startedMs } = this.#pending ?? this.#cut(point);
      const taken = windows.splice(0, room);
      const completes = windows.length === 0;
      parts.push({ point, windows: taken, startedMs, completes });
      this.#pending = completes ? null : { windows, startedMs };
      room -= taken.length;
      if (room === 0 || !completes) break;
    }
    return parts;
  }

  /** Cuts a point into windows. A blank window has nothing to judge: the model would reject it. */
  #cut({ text }: DuePoint): Pending {
    const windows = this.#windows.add(text).filter((window) => /\S/.test(window));
    return { windows, startedMs: performance.now() };
  }

  #finish(parts: readonly Part[], results: readonly (WindowScore | RequestError)[]): void {
    if (this.#isStopped) return;
    let at = 0;
    for (const { point, windows, startedMs, completes } of parts) {
      for (let left = windows.length; left > 0; left--) {
        const result = results[at++]!;
        if (result instanceof RequestError) {
          this.stop();
          this.#events.failed(eventOf(result), result.message);
          return;
        }
        this.#verdict.add(result);
      }
      if (!completes) continue;
      this.#due.shift();
      this.#events.judged(this.#verdict.upTo(point, performance.now() - startedMs));
    }
    this.#endTurn?.();
    this.#endTurn = null;
    this.#events.evaluated();
  }
}

/** Maps an error of the model's service to a stream error; other codes mean that the text itself was rejected. */
const EVENTS: Partial<Readonly<Record<RequestErrorCode, StreamEvent>>> = {
  // The model was unloaded while the stream was open.
  MODEL_NOT_FOUND: 'not available',
  UNAVAILABLE: 'not available',
  EXECUTION_FAILED: 'failure',
};

function eventOf({ code }: RequestError): StreamEvent {
  return EVENTS[code] ?? 'content refused';
}

/** Score from which a prefix that is not flagged needs caution. The models of this server flag from 0.5 or higher. */
const CAUTION_FROM = 0.3;

/** The verdict on the text judged so far: the worst of its windows, so it never improves as the text grows. */
class PrefixVerdict {
  #score: number | null = null;
  #flagged = false;
  #modelVersion = '';
  #last: PrefixReport = this.#report(NOTHING_JUDGED, 0, false);

  /** The latest verdict. */
  get last(): PrefixReport {
    return this.#last;
  }

  /** Adds a window. */
  add({ score, flagged, modelVersion }: WindowScore): void {
    this.#score = Math.max(this.#score ?? 0, score);
    this.#flagged ||= flagged;
    this.#modelVersion = modelVersion;
  }

  /** The verdict on all windows so far, which cover the text up to this point. */
  upTo({ seq, isFinal }: DuePoint, latencyMs: number): PrefixReport {
    return (this.#last = this.#report(seq, latencyMs, isFinal));
  }

  #report(processedUntilSeq: number, latencyMs: number, isFinal: boolean): PrefixReport {
    const needsCaution = !this.#flagged && (this.#score ?? 0) >= CAUTION_FROM;
    const [flagged, score] = [this.#flagged, this.#score];
    const verdict = { processedUntilSeq, flagged, needsCaution, score, latencyMs, isFinal };
    return { verdict, modelVersion: this.#modelVersion };
  }
}
