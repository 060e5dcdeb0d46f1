import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { listFolder } from '../../files/folders.ts';
import { readPlanState } from '../../ingest/plan/plan-file.ts';
import { readRecordLines } from '../../files/record-lines.ts';
import { RUN_FILES, commitsName, epochOf, epochOfCommits } from '../../files/run-files.ts';
import { parseChainLine, type CommitLine, type Damage } from '../../record/log/chain-line.ts';
import { listEpochs } from '../../record/log/epochs.ts';
import { placeOf, type Chain } from '../../record/log/chain.ts';
import { readChain } from '../../record/log/read-chain.ts';

/** What a new writer continues from. */
export interface Recovered {
  readonly chain: Chain;
  /** Commits that no longer hold; null when all do. */
  readonly damage: Damage | null;
}

interface Loss {
  readonly at: string;
  readonly outcomes: number;
}

/**
 * Reads the chain below an epoch as far as it holds, and what was lost. A crash leaves only a torn last line in the
 * newest epoch's commits file, which was never acknowledged. Damage looks different: a complete line that fails verification,
 * a segment without the committed bytes, a commit of a shard that is not planned.
 * Failure('internal') when a line that others build on fails verification, or the log is gone.
 */
export async function recoverChain(runDir: string, below: number, signal: AbortSignal): Promise<Recovered> {
  const plan = await readPlanState(join(runDir, RUN_FILES.plan), signal);
  // Without a writer there is no plan yet; shards in the log are then planned again in the same way.
  const plannedShards = plan.epoch === 0 ? Number.POSITIVE_INFINITY : plan.shards;
  await assertNothingGone(runDir, plan.epoch, below);
  const epochs = (await listEpochs(runDir)).filter((epoch) => epoch < below);
  const options = { signal, check: { plannedShards } };
  let chain = await readChain(runDir, { ...options, below });
  let broken = chain.endsBefore;
  if (broken?.namesAnother === true) {
    // Either this line or the one before it was changed: the chain ends before both.
    const { epoch, lines } = chain.position;
    broken = { ...broken, line: lines };
    const shorter = lines > 1 ? { below, newestLines: lines - 1 } : { below: epoch };
    chain = await readChain(runDir, { ...options, ...shorter });
  }
  const losses: Loss[] = chain.damaged.map(({ at, items }) => ({ at, outcomes: items }));
  if (broken !== null) losses.push(await lossFrom(runDir, broken, chain, signal));
  for (const epoch of epochs) {
    // An epoch without a readable claim holds nothing else, unless the claim was damaged.
    if (epoch <= chain.position.epoch || epoch === broken?.epoch) continue;
    losses.push(await lossFrom(runDir, { epoch, line: 1 }, chain, signal));
  }
  const lost = losses.filter(({ outcomes }) => outcomes > 0);
  if (lost.length === 0) return { chain, damage: null };
  return {
    chain,
    damage: {
      at: lost[0]!.at,
      outcomes: lost.reduce((sum, { outcomes }) => sum + outcomes, 0),
      shards: chain.damaged.map(({ shard }) => shard),
    },
  };
}

/**
 * Failure('internal') when an epoch is missing from the log. Must be called before an epoch is taken, since the new epoch
 * would get the missing number.
 */
export async function assertLogIsThere(runDir: string, signal: AbortSignal): Promise<void> {
  const { epoch } = await readPlanState(join(runDir, RUN_FILES.plan), signal);
  await assertNothingGone(runDir, epoch, Number.POSITIVE_INFINITY);
}

/**
 * Epochs are taken without gaps, so all must exist up to the highest that the plan, a commits file or a segment names.
 * (In a fleet the plan only names feeders, while sinks hold the commits.)
 */
async function assertNothingGone(runDir: string, planned: number, below: number): Promise<void> {
  // In this order: a commits file is always created before its segments.
  const segments = (await readLog(runDir)).map((name) => epochOf(name) ?? 0);
  const there = new Set(await listEpochs(runDir));
  const known = [...there, ...segments].filter((epoch) => epoch < below);
  const highest = known.reduce((most, epoch) => Math.max(most, epoch), planned);
  for (let epoch = 1; epoch <= highest; epoch++) if (!there.has(epoch)) throw logGone(epoch);
}

async function readLog(runDir: string): Promise<string[]> {
  try {
    return await listFolder(join(runDir, RUN_FILES.log));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function logGone(epoch: number): Failure {
  return new Failure(
    'internal',
    `log/${commitsName(epoch)} is missing, and with it committed outcomes: restore the folder log, or start a ` +
      'new run',
  );
}

/**
 * What an epoch lost from a complete but invalid line on: the outcomes in its segments beyond the valid commits, up to the
 * last valid line.
 */
async function lossFrom(
  runDir: string,
  { epoch, line: from }: { readonly epoch: number; readonly line: number },
  chain: Chain,
  signal: AbortSignal,
): Promise<Loss> {
  const log = join(runDir, RUN_FILES.log);
  let whole = 0;
  let last: CommitLine | null = null;
  let at = 0;
  for await (const batch of readRecordLines(join(log, commitsName(epoch)), { signal })) {
    for (const bytes of batch) {
      if (++at < from) continue;
      whole++;
      const line = parseChainLine(bytes);
      if (line === null) last = null;
      else if ('shard' in line) last = line;
    }
  }
  let outcomes = 0;
  if (whole > 0) {
    const counted = chain.parts.find((part) => part.epoch === epoch)?.written;
    for (const segment of (await listFolder(log)).sort()) {
      if (epochOf(segment) !== epoch || epochOfCommits(segment) !== null) continue;
      if (last !== null && segment > last.segment) continue;
      const bytes = last?.segment === segment ? last.offset + last.length : Number.POSITIVE_INFINITY;
      const range = { from: counted?.get(segment) ?? 0, bytes, signal };
      for await (const lines of readRecordLines(join(log, segment), range)) outcomes += lines.length;
    }
  }
  return { at: placeOf({ epoch, line: from }), outcomes };
}
