import { join } from 'node:path';
import type { RunRecord } from '../config/run-config.ts';
import { Failure } from '../domain/failure.ts';
import type { OutcomeLine } from '../domain/outcome.ts';
import { plural } from '../domain/text/plural.ts';
import { CorpusAccounts, type EmptySources } from './corpus-accounts.ts';
import { mergeOutcomes } from './outcomes/merge-outcomes.ts';
import type { PlanOutline } from './outcomes/plan-outline.ts';
import { RUN_FILES } from '../files/run-files.ts';
import type { LoggedOutcome } from './outcomes/shard-cursor.ts';
import { Tally } from './tally.ts';
import type { Chain } from './log/read-chain.ts';

export interface RunReadingInput {
  readonly runDir: string;
  readonly record: RunRecord;
  readonly chain: Chain;
  readonly plan: PlanOutline;
  readonly signal: AbortSignal;
  /** Turns the text of an outcome line into what it says; may check its form. */
  readonly parse: (text: string) => OutcomeLine;
}

/** Whether every planned item has a committed outcome and nothing more will be planned. */
export function isComplete(plan: PlanOutline): boolean {
  return plan.isClosed && plan.committed === plan.shards;
}

/**
 * The one way to go through a run's outcomes: in corpus order, adding them up. Of a complete run it holds that the
 * seqs run from 0 without a gap and that, per corpus, items = verdicts + errors.
 */
export class RunReading {
  readonly tally: Tally;
  /** Null while the first pass is not closed: the items of a corpus are not known yet. */
  readonly accounts: CorpusAccounts | null;
  readonly #input: RunReadingInput;

  private constructor(input: RunReadingInput, accounts: CorpusAccounts | null) {
    this.#input = input;
    this.accounts = accounts;
    this.tally = new Tally(input.record.config.policy);
  }

  static async open(input: RunReadingInput): Promise<RunReading> {
    const { runDir, record, plan, signal } = input;
    const closed = plan.closed[0];
    if (closed === undefined) return new RunReading(input, null);
    const corpora = record.config.sources.length;
    const path = join(runDir, RUN_FILES.sources);
    return new RunReading(input, await CorpusAccounts.open(path, closed.items_by_source, corpora, signal));
  }

  /** Sources that hold no item; none are known to while the first pass is not closed. */
  emptySources(): EmptySources {
    return this.accounts?.emptySources() ?? { count: 0, paths: [] };
  }

  /** Goes through the outcomes only to add them up. */
  async addUp(): Promise<void> {
    const outcomes = this.outcomes();
    while ((await outcomes.next()).done !== true);
  }

  /**
   * The outcomes in batches. Failure('internal') when the log does not hold, a decision on record is not the one
   * the policy gives, a fingerprint is named that is not in the chain, an item stands under another source than it was
   * planned in, or a complete run does not add up.
   */
  async *outcomes(): AsyncGenerator<LoggedOutcome[], void> {
    const { runDir, chain, plan, record, signal, parse } = this.#input;
    const complete = isComplete(plan);
    const planPath = join(runDir, RUN_FILES.plan);
    const { wasFed, bytes: planBytes } = plan;
    const input = { runDir, planPath, planBytes, wasFed, commits: chain.commits, signal, parse };
    let seq = 0;
    for await (const batch of mergeOutcomes(plan.lanes, input)) {
      for (const { line } of batch) {
        if (complete && line.seq !== seq)
          throw new Failure('internal', `item ${seq} has no outcome in the log`);
        seq++;
        if (line.run !== record.run)
          throw new Failure('internal', `the outcome of item ${line.seq} is of another run`);
        if (!this.tally.add(line)) {
          throw new Failure(
            'internal',
            `the decision on item ${line.seq} is not the one the run's policy gives`,
          );
        }
        if (line.fingerprint !== null && !chain.fingerprints.has(line.fingerprint)) {
          throw new Failure('internal', `the fingerprint of item ${line.seq} is not in the log`);
        }
        this.accounts?.add(line);
      }
      yield batch;
    }
    if (!complete) return;
    if (seq !== plan.items)
      throw new Failure('internal', `${plan.items} items are planned, but ${seq} have an outcome`);
    for (const { corpus, items, verdicts, errors } of this.accounts?.accounts() ?? []) {
      if (items !== verdicts + errors) {
        throw new Failure(
          'internal',
          `source ${corpus + 1}: ${items} ${plural(items, 'item')}, but ${verdicts + errors} ${plural(verdicts + errors, 'outcome')}`,
        );
      }
    }
  }
}
