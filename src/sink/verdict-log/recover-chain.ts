import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { listFolder } from '../../files/folders.ts';
import { RUN_FILES, commitsName, epochOf } from '../../files/run-files.ts';
import { readPlanState } from '../../ingest/plan/plan-file.ts';
import { readRecordLines } from '../../files/record-lines.ts';
import type { Chain, ChainEnd } from '../../record/log/chain.ts';
import { parseClaim } from '../../record/log/chain-line.ts';
import { listEpochs } from '../../record/log/epochs.ts';
import { doesNotFollow, readChain } from '../../record/log/read-chain.ts';

/**
 * Reads the chain below an epoch for a new writer, and checks the bytes of every commit. A crash leaves only a torn end
 * of the newest epoch's commits file, which was never acknowledged: it does not count. Failure('internal') for any
 * other failed check.
 */
export async function recoverChain(runDir: string, below: number, signal: AbortSignal): Promise<Chain> {
  try {
    const plan = await readPlanState(join(runDir, RUN_FILES.plan), signal);
    await assertNothingGone(runDir, plan.epoch, below);
    // Without a writer there is no plan yet; shards in the log are then replanned identically.
    const plannedShards = plan.epoch === 0 ? Number.POSITIVE_INFINITY : plan.shards;
    const chain = await readChain(runDir, { below, signal, plannedShards, checkBytes: true });
    const end = chain.endsBefore ?? (await damagedClaim(runDir, chain.position.epoch, below, signal));
    if (end !== null) throw doesNotFollow(end);
    return chain;
  } catch (error) {
    throw withRemedy(error);
  }
}

/**
 * Failure('internal') when an epoch is missing from the log. Must be called before an epoch is taken, since the new
 * epoch would get the missing number.
 */
export async function assertLogIsThere(runDir: string, signal: AbortSignal): Promise<void> {
  try {
    const { epoch } = await readPlanState(join(runDir, RUN_FILES.plan), signal);
    await assertNothingGone(runDir, epoch, Number.POSITIVE_INFINITY);
  } catch (error) {
    throw withRemedy(error);
  }
}

/** Adds the fix for a damaged record. */
function withRemedy(error: unknown): unknown {
  if (!(error instanceof Failure) || error.kind !== 'internal') return error;
  const remedy = 'restore it or start a new run: what was judged is reused from the store';
  return new Failure('internal', `${error.message}; ${remedy}`, { cause: error });
}

/**
 * The claim of an epoch after the chain, if it is damaged. A torn claim comes from a crash; a valid one was written
 * just now.
 */
async function damagedClaim(
  runDir: string,
  above: number,
  below: number,
  signal: AbortSignal,
): Promise<ChainEnd | null> {
  for (const epoch of await listEpochs(runDir)) {
    if (epoch <= above || epoch >= below) continue;
    const path = join(runDir, RUN_FILES.log, commitsName(epoch));
    for await (const [line] of readRecordLines(path, { signal })) {
      if (line !== undefined && parseClaim(line) === null) return { epoch, line: 1 };
      break;
    }
  }
  return null;
}

/**
 * Checks that no epoch is missing. Epochs are taken without gaps, so all must exist up to the highest that the plan, a
 * commits file or a segment names. (In a fleet the plan only names feeders, while sinks hold the commits.)
 */
async function assertNothingGone(runDir: string, planned: number, below: number): Promise<void> {
  // In this order: a commits file is always created before its segments.
  const segments = (await readLog(runDir)).map((name) => epochOf(name) ?? 0);
  const there = new Set(await listEpochs(runDir));
  const known = [...there, ...segments].filter((epoch) => epoch < below);
  const highest = known.reduce((most, epoch) => Math.max(most, epoch), planned);
  for (let epoch = 1; epoch <= highest; epoch++) {
    if (!there.has(epoch)) throw new Failure('internal', `log/${commitsName(epoch)} is missing`);
  }
}

async function readLog(runDir: string): Promise<string[]> {
  try {
    return await listFolder(join(runDir, RUN_FILES.log));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
