import type { OutcomeLine } from '../../src/domain/outcome.ts';
import type { Counts } from '../../src/record/counts.ts';
import { NO_RULING, Tally } from '../../src/record/tally.ts';

/** A line of the verdict log for a text that was allowed, but for what is said. */
export function outcomeLine(parts: Partial<OutcomeLine> = {}): OutcomeLine {
  return {
    ...{ schema: 1, run: 'run', seq: 0, id: 'a' },
    source: { path: 'a.csv', row: 1, line: 2, sha256: null, bytes: null, offset: null, length: null },
    ...{ modality: 'text', request_type: 'prompt', content_sha256: null, roles: null, turn: null },
    ...{ part: null, coverage: null, status: 'ok', score: 0.5, flagged: false, subcategory_scores: null },
    ...{ subcategory_flags: null, decision: 'allow', decided_by: null, fingerprint: null, endpoint: null },
    ...{ latency_ms: 1, attempts: 1, cache_usage: null, stream: null, reused_from: null, snippet: null },
    ...{ moderated_at: '2026-11-21T02:00:03.120Z', error: null },
    ...parts,
  };
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
