import type { RunRecord } from '../../config/run-config.ts';
import { DEFAULT_POLICY } from '../../domain/policy.ts';
import { closedSummary } from '../../record/summary/finished-summary.ts';
import type { Summary } from '../../record/summary/summary.ts';
import { ReviewHistory } from '../../record/reviews/review-history.ts';
import { readRunRecord } from '../../runs/open-run.ts';
import type { RunDetail } from '../api/runs.ts';
import { DashboardError } from '../errors.ts';
import { contentRefusal } from './content-access.ts';
import type { Roots } from './roots.ts';
import type { CurrentRun } from './run-list.ts';

/** Sources that are named; a run may have any number. */
const MAX_SOURCES = 100;

interface DetailParts {
  readonly roots: Roots;
  readonly keyFile: string | null;
}

/** What the page of a run shows. CONFLICT when the run cannot be read. */
export async function runDetail(
  { row, pass }: CurrentRun,
  dir: string,
  parts: DetailParts,
  signal: AbortSignal,
): Promise<RunDetail> {
  const record = row.state === 'unreadable' ? null : await readRunRecord(dir);
  if (record === null) {
    throw new DashboardError('CONFLICT', `the run cannot be read: ${row.problem ?? 'it has changed'}`);
  }
  const summary = row.state === 'finished' ? await closedSummary(dir) : null;
  const { progress } = await ReviewHistory.read(dir, signal);
  const refusal = await contentRefusal(dir, record, parts);
  return {
    ...row,
    dir,
    ...configOf(record),
    pass,
    summary: summary && shownSummary(summary),
    reviews: progress,
    content: { readable: refusal === null, reason: refusal?.message ?? null },
  };
}

function configOf({ config }: RunRecord): Pick<RunDetail, 'sources' | 'policy' | 'guards'> {
  const { sources, guards, policy = DEFAULT_POLICY } = config;
  return { sources: sources.slice(0, MAX_SOURCES).map(({ path }) => path), policy, guards };
}

function shownSummary(summary: Summary): RunDetail['summary'] {
  const { items, verdicts, errors, restricted, by_category, without_category } = summary;
  const { by_error_code, by_modality, chain_head } = summary;
  const binary = summary.guards.filter(({ fingerprint }) =>
    summary.binary_scores?.includes(fingerprint ?? ''),
  );
  return {
    binary_scores: binary.reduce((sum, guard) => sum + guard.verdicts, 0),
    ...{ items, verdicts, errors, restricted, by_category, without_category },
    ...{ by_error_code, by_modality, chain_head },
  };
}
