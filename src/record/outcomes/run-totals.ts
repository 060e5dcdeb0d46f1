import { join } from 'node:path';
import type { RunRecord } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import type { Policy } from '../../domain/policy.ts';
import { plural } from '../../domain/text/plural.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { CorpusAccounts, type CorpusAccount, type EmptySources } from '../corpus-accounts.ts';
import type { Chain } from '../log/chain.ts';
import { HAS } from '../log/commit-table.ts';
import type { Counts } from '../counts.ts';
import { NO_RULING, rulingOn, Tally, type Ruling } from '../tally.ts';
import type { CommittedShard } from './committed-lines.ts';
import type { ConversationLine } from './conversations.ts';
import { finalOutcomes, type Outcomes } from './final-outcomes.ts';
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

/** What takes the outcomes of a run, in corpus order, and finds its conversations: `LineFiles`. */
interface OutcomesTaker {
  add(batch: readonly Outcomes[]): Promise<readonly ConversationLine[]>;
  end(): Promise<readonly ConversationLine[]>;
}

/** What the outcomes of a run add up to. */
export interface RunTotals {
  readonly counts: Counts;
  /** In the order of the configuration; empty while pass 1 is not closed, since items per corpus are not known. */
  readonly corpora: readonly CorpusAccount[];
  /** None while pass 1 is not closed. */
  readonly emptySources: EmptySources;
  /** SHA-256 of a source that is one item, as it was judged; null for any other. */
  readonly fileHash: (source: number) => string | null;
  /** Whether a source was found changed while it was judged. */
  readonly isChanged: (source: number) => boolean;
}

/**
 * Passes the outcomes of a run on, in corpus order, and adds them up: the tallies of its shards, corrected by what was
 * superseded and by the outcomes of copies. Of a complete run it checks that every planned item has one outcome.
 * Failure('internal') when the log fails verification, or a complete run does not add up.
 */
export async function runTotals(input: RunOutcomesInput, taker: OutcomesTaker): Promise<RunTotals> {
  const { runDir, record, chain, plan, signal, check } = input;
  const accounts = await openAccounts(input);
  const { policy } = record.config;
  const tally = new Tally();
  tally.merge(chain.commits.tally.shardTally());
  const complete = isComplete(plan);
  // A source of which nothing was chosen is not empty.
  const isTrial = record.config.trial !== null;
  const log = {
    ...{ runDir, commits: chain.commits, signal, isComplete: complete },
    ...{ planPath: join(runDir, RUN_FILES.plan), planBytes: plan.bytes },
    ...(check && { check: (shard: CommittedShard) => check(shard, accounts) }),
  };
  for await (const batch of finalOutcomes(plan.lanes, log)) {
    for (const outcomes of batch) {
      correct(tally, policy, outcomes);
      account(accounts, outcomes);
    }
    for (const conversation of await taker.add(batch)) tally.addConversation(conversation);
  }
  for (const conversation of await taker.end()) tally.addConversation(conversation);
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

/** Takes back what was superseded, and counts copies with the outcomes that they got. */
function correct(tally: Tally, policy: Policy, { superseded, resolved }: Outcomes): void {
  const ruling = (line: OutcomeLine): Ruling => rulingOn(policy, line) ?? NO_RULING;
  for (const line of superseded) {
    if (line.status === 'same') tally.addWaiting(line, -1);
    else tally.add(line, ruling(line), -1);
  }
  for (const line of resolved) {
    tally.addWaiting(line, -1);
    tally.add(line, ruling(line));
  }
}

function account(accounts: CorpusAccounts | null, { shard, lines, errors }: Outcomes): void {
  if (accounts === null) return;
  if ((shard.range.has & (HAS.errors | HAS.waiting)) !== 0) {
    for (const error of errors()) accounts.addError(error);
  }
  if (shard.planned.from === null) for (const line of lines()) accounts.addFile(line);
}

/** Null while pass 1 is not closed. */
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
