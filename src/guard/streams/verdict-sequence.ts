import { NOTHING_JUDGED, type StreamVerdict } from '../tensors/stream/stream-messages.ts';

/**
 * Max consecutive verdicts that judge nothing new: enough for a cadence of 10 ms while a generator pauses for a quarter
 * of an hour, but a limit for a server that floods the client.
 */
const MAX_REPEATS = 100_000;

/** The client's messages when a verdict arrives. */
interface SendProgress {
  /** Highest seq sent; NOTHING_JUDGED before the first message. */
  readonly lastSeq: number;
  /** Whether the client has ended the stream. */
  readonly ended: boolean;
}

/** The verdicts of one stream, checked against the contract and against what was sent. */
export class VerdictSequence {
  #processedUntilSeq = NOTHING_JUDGED;
  #repeats = 0;
  #final: StreamVerdict | null = null;

  /** Boundary of the last verdict; NOTHING_JUDGED before the first. */
  get processedUntilSeq(): number {
    return this.#processedUntilSeq;
  }

  /** The definitive verdict; null until it arrives. */
  get final(): StreamVerdict | null {
    return this.#final;
  }

  /** Adds the next verdict. Returns a description of its error, or null. */
  add(verdict: StreamVerdict, sent: SendProgress): string | null {
    const fault = this.#faultOf(verdict, sent);
    if (fault !== null) return fault;
    this.#processedUntilSeq = verdict.processedUntilSeq;
    if (verdict.isFinal) this.#final = verdict;
    return null;
  }

  #faultOf(
    { processedUntilSeq, flagged, needsCaution, isFinal }: StreamVerdict,
    sent: SendProgress,
  ): string | null {
    if (this.#final !== null) return 'a verdict after the final one';
    if (sent.lastSeq === NOTHING_JUDGED) return 'a verdict before the first chunk';
    if (processedUntilSeq > sent.lastSeq) return 'a verdict on a seq that was not sent';
    if (processedUntilSeq < this.#processedUntilSeq) return 'processed_until_seq decreased';
    if (isFinal && !sent.ended) return 'a final verdict before the end of the stream';
    if (processedUntilSeq === NOTHING_JUDGED && (flagged || needsCaution || isFinal)) {
      return 'a finding before any chunk was judged';
    }
    this.#repeats = processedUntilSeq > this.#processedUntilSeq ? 0 : this.#repeats + 1;
    return this.#repeats > MAX_REPEATS ? 'too many verdicts that judge nothing new' : null;
  }
}
