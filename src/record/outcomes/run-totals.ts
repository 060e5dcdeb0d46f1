import { join } from 'node:path';
import type { RunRecord } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { plural } from '../../domain/text/plural.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { CorpusAccounts, type CorpusAccount, type EmptySources } from '../corpus-accounts.ts';
import type { Chain } from '../log/chain.ts';
import { HAS } from '../log/commit-table.ts';
import type { Counts } from '../counts.ts';
import { NO_RULING, rulingOn, Tally } from '../tally.ts';
import { committedLines, type CommittedShard, type Piece } from './committed-lines.ts';
import type { LineFiles } from './line-files.ts';
import { isComplete, type PlanOutline } from './plan-outline.ts';

export interface RunOutcomesInput {
  readonly runDir: string;
  readonly record: RunRecord;
  readonly chain: Chain;
  readonly plan: PlanOutline;
  readonly signal: AbortSignal;
  /** Called with each shard once, before its outcomes. */
  readonly check?: (shard: CommittedShard, accounts: CorpusAccounts | null) => void;
}

/** Totals over the outcomes of a run. */
export interface RunTotals {
  readonly counts: Counts;
  /** In configuration order; empty until pass 1 is closed, because the items per corpus are not known before. */
  readonly corpora: readonly CorpusAccount[];
  /** None until pass 1 is closed. */
  readonly emptySources: EmptySources;
  /** SHA-256 of a source that is one item, as it was judged; null for any other. */
  readonly fileHash: (source: number) => string | null;
  /** Whether a source was found changed while it was judged. */
  readonly isChanged: (source: number) => boolean;
}

/**
 * Passes the outcomes of a run to its files, in corpus order, and adds them up: the tallies of its shards, minus
 * superseded outcomes. Checks that every planned item of a complete run has exactly one outcome. Failure('internal')
 * when the log fails verification, or a complete run does not add up.
 */
export async function runTotals(input: RunOutcomesInput, files: LineFiles): Promise<RunTotals> {
  const { runDir, record, chain, plan, signal, check } = input;
  const accounts = await openAccounts(input);
  const { policy } = record.config;
  const tally = new Tally();
  tally.merge(chain.commits.tally.shardTally());
  const complete = isComplete(plan);
  // A source from which no record was selected is not empty.
  const isTrial = record.config.trial !== null;
  const log = {
    ...{ runDir, commits: chain.commits, signal },
    ...{ planPath: join(runDir, RUN_FILES.plan), planBytes: plan.bytes },
    ...(check && { check: (shard: CommittedShard) => check(shard, accounts) }),
  };
  let next = 0;
  for await (const piece of committedLines(plan.lanes, log)) {
    if (piece.superseded) {
      for (const line of piece.lines()) tally.add(line, rulingOn(policy, line) ?? NO_RULING, -1);
      continue;
    }
    if (complete && piece.first !== next) {
      throw new Failure('internal', `item ${next} has no outcome in the log`);
    }
    next = piece.first + piece.count;
    account(accounts, piece);
    await files.add(piece);
  }
  await files.end();
  const corpora = accounts?.accounts() ?? [];
  const counts = tally.counts();
  if (complete) checkSums(plan.items, counts, corpora);
  return {
    counts,
    corpora,
    emptySources: (isTrial ? undefined : accounts?.emptySources()) ?? { count: 0, paths: [] },
    fileHash: (source) => accounts?.fileHash(source) ?? null,
    isChanged: (source) => accounts?.isChanged(source) ?? false,
  };
}

function account(accounts: CorpusAccounts | null, piece: Piece): void {
  if (accounts === null) return;
  if ((piece.shard.range.has & HAS.errors) !== 0) {
    for (const error of piece.errors()) accounts.addError(error);
  }
  if (piece.shard.planned.from === null) for (const line of piece.lines()) accounts.addFile(line);
}

/** Null until pass 1 is closed. */
async function openAccounts({
  runDir,
  record,
  plan,
  signal,
}: RunOutcomesInput): Promise<CorpusAccounts | null> {
  const closed = plan.closed[0];
  if (closed === undefined) return null;
  const sources = join(runDir, RUN_FILES.sources);
  return CorpusAccounts.open(sources, closed.items_by_source, record.config.sources.length, signal);
}

function checkSums(planned: number, { items, errors }: Counts, corpora: readonly CorpusAccount[]): void {
  if (items !== planned) {
    throw new Failure(
      'internal',
      `${planned} ${plural(planned, 'item is', 'items are')} planned, but ${items} ${plural(items, 'has', 'have')} an outcome`,
    );
  }
  const accounted = corpora.reduce((sum, corpus) => sum + corpus.errors, 0);
  if (accounted === errors) return;
  throw new Failure('internal', `the log counts ${errors} ${plural(errors, 'error')}, but has ${accounted}`);
}
