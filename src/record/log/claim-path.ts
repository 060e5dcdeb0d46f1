import { hash } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { readRecordLines } from '../../files/record-lines.ts';
import { RUN_FILES, commitsName } from '../../files/run-files.ts';
import { readRunFile } from '../read-run-file.ts';
import { parseClaim, type ClaimLine } from './chain-line.ts';
import { listEpochs } from './epochs.ts';

/**
 * Reads the claims along the chain, oldest first: from the highest epoch below `below` whose claim is complete, back
 * through `continues` to the genesis. Failure('internal') when an epoch that another continues is missing.
 */
export async function claimPath(runDir: string, below: number, signal: AbortSignal): Promise<ClaimLine[]> {
  const epochs = (await listEpochs(runDir)).filter((epoch) => epoch < below);
  const path: ClaimLine[] = [];
  for (let epoch = epochs.pop(); epoch !== undefined;) {
    const claim = await readClaim(runDir, epoch, signal);
    if (claim !== null) {
      path.unshift(claim);
      const before = claim.continues.epoch;
      if (before === 0) break;
      if (before >= epoch || !epochs.includes(before)) throw doesNotContinue(claim);
      epoch = before;
    } else if (path.length === 0) {
      // Its writer died, or is still reading, before writing the claim: the epoch holds nothing else.
      epoch = epochs.pop();
    } else {
      throw doesNotContinue(path[0]!);
    }
  }
  return path;
}

/** Whether run.json differs from the file that the log began with. False while the log has no claim. */
export async function isRunFileChanged(runDir: string, signal: AbortSignal): Promise<boolean> {
  try {
    const first = (await claimPath(runDir, Number.POSITIVE_INFINITY, signal))[0];
    if (first === undefined) return false;
    return first.continues.head !== hash('sha256', await readRunFile(runDir, RUN_FILES.run));
  } catch {
    // The reader reports what is wrong with the log.
    signal.throwIfAborted();
    return false;
  }
}

/** Reads the claim of an epoch; null if it is not written yet or damaged. */
export async function readClaim(
  runDir: string,
  epoch: number,
  signal: AbortSignal,
): Promise<ClaimLine | null> {
  for await (const [first] of readRecordLines(join(runDir, RUN_FILES.log, commitsName(epoch)), { signal })) {
    const claim = parseClaim(first!);
    return claim?.claim === epoch ? claim : null;
  }
  return null;
}

/** The failure for a claim that does not continue the chain before it. */
export function doesNotContinue(claim: ClaimLine): Failure {
  const before = claim.continues.epoch === 0 ? RUN_FILES.run : `log/${commitsName(claim.continues.epoch)}`;
  return new Failure(
    'internal',
    `log/${commitsName(claim.claim)} line 1 does not continue ${before} as it is now`,
  );
}
