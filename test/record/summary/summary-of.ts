import type { RunRecord } from '../../../src/config/run-config.ts';
import { makeSummary, type Summary } from '../../../src/record/summary/summary.ts';
import { runConfig } from '../../helpers/run-config.ts';
import { counted } from '../outcome-line.ts';

const RECORD = { run: 'a-run', config: runConfig('/runs', []), skipped: {}, fitted_headers: [] };

/** The summary of a finished run of nothing, but for what is said. */
export function summaryOf(parts: Partial<Summary>): Summary {
  const empty = makeSummary({
    record: RECORD as unknown as RunRecord,
    dir: '/runs/a-run',
    status: 'finished',
    trial: null,
    counts: counted([]),
    emptySources: { count: 0, paths: [] },
    seconds: 0,
    pass: 1,
    canaries: [],
    fingerprints: new Map(),
    chainHead: 'c'.repeat(64),
    files: [],
    rows: {},
  });
  return { ...empty, ...parts };
}
