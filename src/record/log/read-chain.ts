import { createHash } from 'node:crypto';
import { RUN_FILES } from '../../files/run-files.ts';
import { readRunFile } from '../read-run-file.ts';
import type { Chain } from './chain.ts';
import type { ClaimLine } from './chain-line.ts';
import { ChainWalk, type ChainWalkOptions } from './chain-walk.ts';
import { claimPath } from './claim-path.ts';

interface ReadChainOptions extends ChainWalkOptions {
  /** Leave out this epoch and later ones. */
  readonly below?: number;
}

/**
 * Reads the verdict log of a run: the chain up to the highest epoch whose claim is complete. Lines of older epochs
 * beyond the point where the next one took over are void, and the newest may end in a torn line.
 * Failure('internal') names file and line when a line that others build on does not hold.
 */
export async function readChain(runDir: string, options: ReadChainOptions): Promise<Chain> {
  const genesis = createHash('sha256')
    .update(await readRunFile(runDir, RUN_FILES.run))
    .digest('hex');
  const path = await claimPath(runDir, options.below ?? Number.POSITIVE_INFINITY, options.signal);
  const walk = new ChainWalk(runDir, genesis, options);
  try {
    const voided = voidedBy(path);
    for (const [index, claim] of path.entries()) {
      const until = path[index + 1]?.continues ?? null;
      const isVoid = (shard: number): boolean => (voided.get(shard) ?? -1) > index;
      await walk.take({ claim, until, isVoid });
    }
  } finally {
    await walk.close();
  }
  const { position, parts, commits, damaged, fingerprints, canaries, closings, endsBefore } = walk;
  const damages = path.flatMap(({ claim, damage }) =>
    damage === undefined ? [] : [{ ...damage, epoch: claim }],
  );
  return { position, parts, commits, damaged, damages, fingerprints, canaries, closings, endsBefore };
}

/** By shard, the index on the path of the last claim that found commits of it damaged: those before it are void. */
function voidedBy(path: readonly ClaimLine[]): ReadonlyMap<number, number> {
  const voided = new Map<number, number>();
  for (const [index, { damage }] of path.entries()) {
    for (const shard of damage?.shards ?? []) voided.set(shard, index);
  }
  return voided;
}
