import type { RunRecord } from '../../config/run-config.ts';
import { isRetryable, type ItemCode } from '../../domain/item-error.ts';
import { DEFAULT_POLICY } from '../../domain/policy.ts';
import { notJudgedByCause } from '../../domain/words/not-judged.ts';
import { closedSummary } from '../../record/summary/finished-summary.ts';
import type { Summary } from '../../record/summary/summary.ts';
import { readRunRecord } from '../../runs/open-run.ts';
import type { RunDetail } from '../api/runs.ts';
import { DashboardError } from '../errors.ts';
import type { ContentAccess } from './content-access.ts';
import type { CurrentRun } from './run-list.ts';
import { signatureWithReviews } from './run-signature.ts';
import { cliCommand } from './to-fix.ts';

/** Maximum sources listed; a run may have any number. */
const MAX_SOURCES = 100;

/** Collects the data of a run's page. CONFLICT if the run cannot be read. */
export async function runDetail(
  { row, pass }: CurrentRun,
  dir: string,
  access: ContentAccess,
): Promise<RunDetail> {
  const record = row.state === 'unreadable' ? null : await readRunRecord(dir);
  if (record === null) {
    throw new DashboardError('CONFLICT', `the run cannot be read: ${row.problem ?? 'it has changed'}`);
  }
  const isOver = row.state === 'finished' || row.state === 'purged';
  const summary = isOver ? await closedSummary(dir) : null;
  const version = await signatureWithReviews(dir);
  const reason = await access.refusal(dir, record);
  return {
    ...row,
    dir,
    ...configOf(record),
    pass,
    summary: summary && shownSummary(summary),
    version,
    command: nextCommand(row.state, dir, summary),
    content: { readable: reason === null, reason },
  };
}

function nextCommand(state: RunDetail['state'], dir: string, summary: Summary | null): string | null {
  if (state === 'stopped' || state === 'cancelled') return cliCommand('resume', dir);
  return state === 'finished' && summary !== null && hasRetryable(summary) ? cliCommand('retry', dir) : null;
}

function hasRetryable({ by_error_code: byCode }: Summary): boolean {
  // Errors with this code may be retryable too; `retry` finds out.
  if (byCode.UNREADABLE_SOURCE !== undefined) return true;
  return Object.keys(byCode).some((code) => isRetryable({ code: code as ItemCode }));
}

function configOf({ config }: RunRecord): Pick<RunDetail, 'sources' | 'policy' | 'guards'> {
  const { sources, guards, policy = DEFAULT_POLICY } = config;
  return { sources: sources.slice(0, MAX_SOURCES).map(({ path }) => path), policy, guards };
}

function shownSummary(summary: Summary): RunDetail['summary'] {
  const { items, verdicts, errors, restricted, by_category, without_category, chain_head } = summary;
  const binary = summary.guards.filter(({ fingerprint }) =>
    summary.binary_scores?.includes(fingerprint ?? ''),
  );
  return {
    binary_scores: binary.reduce((sum, guard) => sum + guard.verdicts, 0),
    ...{ items, verdicts, errors, restricted, by_category, without_category },
    chain_head,
    not_judged: notJudgedByCause(summary).sort((a, b) => b.items - a.items),
  };
}
