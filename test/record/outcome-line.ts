import type { OutcomeLine } from '../../src/domain/outcome.ts';
import type { Counts } from '../../src/record/counts.ts';
import { verdictLine } from '../../src/record/outcomes/outcome-line.ts';
import { NO_RULING, Tally } from '../../src/record/tally.ts';
import { promptItem } from '../helpers/items.ts';
import { judgement } from '../helpers/moderation.ts';

/** A line of the verdict log for a text that was allowed, but for what is said. */
export function outcomeLine(parts: Partial<OutcomeLine> = {}): OutcomeLine {
  const { judgement: allowed } = judgement(0.1);
  const line = verdictLine(
    'run',
    promptItem(0, 'text'),
    allowed!,
    { decision: 'allow', decidedBy: null, thresholdUnapplied: false },
    null,
  );
  return { ...line, content_sha256: null, ...parts };
}

/** The line of an item that ended as an error. */
export function errorLine(error: OutcomeLine['error'], parts: Partial<OutcomeLine> = {}): OutcomeLine {
  return outcomeLine({ status: 'error', score: null, flagged: null, decision: null, error, ...parts });
}

/** What a tally counts of outcome lines. */
export function counted(lines: readonly Partial<OutcomeLine>[]): Counts {
  const tally = new Tally();
  for (const [seq, line] of lines.entries()) tally.add(outcomeLine({ ...line, seq }), NO_RULING);
  return tally.counts();
}
