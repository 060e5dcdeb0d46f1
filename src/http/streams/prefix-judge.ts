import type { StreamVerdict } from '../../guard/tensors/stream/stream-messages.ts';
import type { DueText } from './due-text.ts';
import type { StreamEvent } from './stream-state.ts';
import type { StreamSettings } from './stream-settings.ts';

/** A verdict, and the version of the model that gave it. */
export interface PrefixReport {
  readonly verdict: StreamVerdict;
  /** Empty while nothing has been judged, or if unknown. */
  readonly modelVersion: string;
}

/** Judges the due text of one stream, one evaluation at a time. */
export interface PrefixJudge {
  /** The latest verdict. */
  readonly last: PrefixReport;
  /** Whether an evaluation runs or waits for its turn. */
  readonly isBusy: boolean;
  /** Called when text has become due, or the client reads again: starts an evaluation if possible. */
  advance(): void;
  /** Withdraws all work. May be called again. */
  stop(): void;
}

/** Events from a judge to its stream, never within a call from it. */
export interface JudgeEvents {
  /** Called with a verdict that was due. Its point has been dropped from the due text. */
  readonly judged: (report: PrefixReport) => void;
  /** Called with the reason why nothing more is judged. `text` quotes no content. */
  readonly failed: (event: StreamEvent, text: string) => void;
  /** Called when an evaluation has ended, after its verdicts. */
  readonly evaluated: () => void;
}

/** Why a stream cannot be opened now. */
export interface NotReady {
  readonly event: 'not available' | 'limit exceeded';
  readonly text: string;
}

/** Judges the streams of a server. */
export interface StreamJudging {
  /** Why streams cannot be opened now; null if they can. */
  notReady(): NotReady | null;
  /** The reason why a prompt is invalid; null if it is valid. */
  faultOfPrompt(prompt: string): string | null;
  /** Starts judging a stream. The judge drops judged text from `due`. */
  judge(settings: StreamSettings, due: DueText, events: JudgeEvents): PrefixJudge;
}
