import { NOTHING_JUDGED } from '../../guard/tensors/stream/stream-messages.ts';
import type { DuePoint } from '../../http/streams/due-text.ts';
import type { PrefixReport } from '../../http/streams/prefix-judge.ts';
import type { WindowScore } from './judge-windows.ts';

/** A prefix that is not flagged needs caution from this score on. The models of this server flag from 0.5 on, or later. */
export const CAUTION_FROM = 0.3;

/** The verdict on the text judged so far: the worst of its windows, so that it never gets better as the text grows. */
export class PrefixVerdict {
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
