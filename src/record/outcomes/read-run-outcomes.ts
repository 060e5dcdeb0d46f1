import { join } from 'node:path';
import type { RunRecord } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import type { LogLine } from '../../domain/outcome.ts';
import { plural } from '../../domain/text/plural.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { CorpusAccounts, type CorpusAccount, type EmptySources } from '../corpus-accounts.ts';
import type { Chain } from '../log/chain.ts';
import { Tally, type Counts } from '../tally.ts';
import { Conversations, type ConversationLine } from './conversations.ts';
import { mayHoldContent } from './kept-content.ts';
import { mergeOutcomes } from './merge-outcomes.ts';
import { isComplete, type PlanOutline } from './plan-outline.ts';
import type { OutcomeFiles, TextTarget } from './outcome-files.ts';

export interface RunOutcomesInput {
  readonly runDir: string;
  readonly record: RunRecord;
  readonly chain: Chain;
  readonly plan: PlanOutline;
  readonly signal: AbortSignal;
  /** Parses a line of the log; may validate it. */
  readonly parse: (text: string) => LogLine;
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
}

/**
 * Reads the outcomes of a run from its log, in corpus order, writes them to `files` in batches, and adds them up. Of a
 * complete run it checks that the seqs run from 0 without a gap and that, per corpus, items = verdicts + errors.
 *
 * Failure('internal') when the log does not hold, an outcome is of another run, a decision is not what the policy gives,
 * a fingerprint is not in the chain, an item is under another source than it was planned in, or a complete run does not
 * add up.
 */
export async function readRunOutcomes(
  input: RunOutcomesInput,
  files?: Pick<OutcomeFiles<TextTarget>, 'add' | 'addConversations' | 'end'>,
): Promise<RunTotals> {
  const { runDir, record, chain, plan, signal, parse } = input;
  const accounts = await openAccounts(input);
  const { policy } = record.config;
  const tally = new Tally(policy);
  const withContent = record.config.output.includeContent;
  const complete = isComplete(plan);
  // A source of which nothing was chosen is not empty.
  const isTrial = record.config.trial !== null;
  const planPath = join(runDir, RUN_FILES.plan);
  const { wasFed, bytes: planBytes } = plan;
  const { commits } = chain;
  const log = { runDir, planPath, planBytes, wasFed, commits, signal, parse, isComplete: complete };
  const conversations = new Conversations();
  let seq = 0;
  for await (const batch of mergeOutcomes(plan.lanes, log)) {
    const ended: ConversationLine[] = [];
    for (const { line } of batch) {
      if (complete && line.seq !== seq) throw broken(`item ${seq} has no outcome in the log`);
      seq++;
      if (line.run !== record.run) throw broken(`the outcome of item ${line.seq} is of another run`);
      if (!tally.add(line)) {
        throw broken(`the decision on item ${line.seq} is not the one the run's policy gives`);
      }
      if (line.fingerprint !== null && !chain.fingerprints.has(line.fingerprint)) {
        throw broken(`the fingerprint of item ${line.seq} is not in the log`);
      }
      if (line.snippet !== null && !(withContent && mayHoldContent(policy, line))) {
        throw broken(`the outcome of item ${line.seq} holds content that it must not hold`);
      }
      accounts?.add(line);
      const conversation = conversations.add(line);
      if (conversation !== null) ended.push(conversation);
    }
    for (const conversation of ended) tally.addConversation(conversation);
    await files?.add(batch);
    await files?.addConversations(ended);
  }
  const last = conversations.end();
  if (last !== null) {
    tally.addConversation(last);
    await files?.addConversations([last]);
  }
  await files?.end(signal);
  const corpora = accounts?.accounts() ?? [];
  if (complete) checkSums(plan.items, seq, corpora);
  return {
    counts: tally.counts(),
    corpora,
    emptySources: (isTrial ? undefined : accounts?.emptySources()) ?? { count: 0, paths: [] },
    fileHash: (source) => accounts?.fileHash(source) ?? null,
  };
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

function checkSums(planned: number, outcomes: number, corpora: readonly CorpusAccount[]): void {
  if (outcomes !== planned) {
    throw broken(
      `${planned} ${plural(planned, 'item is', 'items are')} planned, but ${outcomes} ${plural(outcomes, 'has', 'have')} an outcome`,
    );
  }
  for (const { corpus, items, verdicts, errors } of corpora) {
    const sum = verdicts + errors;
    if (items === sum) continue;
    throw broken(
      `source ${corpus + 1}: ${items} ${plural(items, 'item')}, but ${sum} ${plural(sum, 'outcome')}`,
    );
  }
}

function broken(what: string): Failure {
  return new Failure('internal', what);
}
