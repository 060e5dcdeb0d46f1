import { join } from 'node:path';
import { createFile } from '../../files/create-file.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { readChain } from '../../record/log/read-chain.ts';
import { finalOutcomes } from '../../record/outcomes/final-outcomes.ts';
import { isComplete, outlinePlan } from '../../record/outcomes/plan-outline.ts';

interface SnapshotOptions {
  readonly runDir: string;
  /** File to create. */
  readonly to: string;
  readonly signal: AbortSignal;
  /** Called with the share of planned items that were written, 0 … 1. */
  readonly progress: (share: number) => void;
}

/**
 * Writes the outcomes that a run has committed by now, in corpus order, as its verdicts.jsonl will have them.
 * Failure('internal') when the log does not hold.
 */
export async function writeSnapshot({ runDir, to, signal, progress }: SnapshotOptions): Promise<void> {
  // In this order every shard that is seen as committed is also seen as planned.
  const { commits } = await readChain(runDir, { signal });
  const planPath = join(runDir, RUN_FILES.plan);
  const plan = await outlinePlan(planPath, commits, { signal });
  const log = { runDir, planPath, planBytes: plan.bytes, commits, signal, isComplete: isComplete(plan) };
  const file = await createFile(to);
  let written = 0;
  try {
    for await (const batch of finalOutcomes(plan.lanes, log)) {
      await file.appendFile(Buffer.concat(batch.map(({ bytes }) => bytes)));
      written += batch.reduce((sum, { count }) => sum + count, 0);
      progress(written / plan.items);
    }
  } finally {
    await file.close();
  }
}
