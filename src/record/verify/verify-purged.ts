import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import type { Chain } from '../log/chain.ts';
import { readChain } from '../log/read-chain.ts';
import { type Manifest, readManifest } from '../manifest/manifest.ts';
import { isKeptByPurge, type Purged, purgedText } from '../purged.ts';
import { checkPlan, outlinePlanOf } from './check-plan.ts';
import {
  checkHead,
  checkNotedHeads,
  checkReviews,
  type SignatureState,
  type VerifyOptions,
  verifySignature,
} from './check-seals.ts';
import { checkHashes } from './verify-files.ts';
import { checkChain, checkClosing } from './verify-manifest.ts';

/** Verified facts about a purged run. */
export interface PurgedReport {
  /** Its outcomes can no longer be checked. */
  readonly ok: false;
  readonly problem: string;
  readonly purged: Purged;
  readonly run: string;
  readonly pass: number;
  readonly head: string;
  readonly items: number;
  readonly verdicts: number;
  readonly errors: number;
  readonly signature: SignatureState;
}

/**
 * Checks what a purge keeps: the manifest against its hash, the kept files against the manifest, the chain of commits
 * from run.json to its head, the totals against plan and chain, and the signature and heads kept elsewhere if given.
 * Failure('internal') for the first mismatch.
 */
export async function verifyPurged(
  runDir: string,
  purged: Purged,
  { head, headFile, publicKey }: VerifyOptions,
  signal: AbortSignal,
): Promise<PurgedReport> {
  const manifest = await readManifest(runDir);
  const signature = await verifySignature(runDir, publicKey ?? null);
  if (purged.run !== manifest.run || purged.chain_head !== manifest.chain_head) {
    throw new Failure(
      'internal',
      `${RUN_FILES.purged} is not about the record that ${RUN_FILES.manifest} names`,
    );
  }
  const files = manifest.files.filter(({ path }) => isKeptByPurge(path));
  await checkHashes(runDir, { files }, signal);
  const outline = await outlinePlanOf(runDir, manifest, signal);
  const chain = await readChain(runDir, { below: manifest.epoch + 1, plannedShards: outline.shards, signal });
  const closing = checkChain(chain, manifest);
  if (head !== undefined) checkHead(chain, head);
  if (headFile !== undefined) await checkNotedHeads(chain, manifest.run, headFile, signal);
  checkClosing(closing, manifest);
  await checkPlan(runDir, outline, chain, manifest, signal);
  checkTotals(chain, manifest);
  await checkReviews(runDir, signal);
  const { run, pass } = manifest;
  const { items, verdicts, errors } = manifest.counts;
  const about = { purged, run, pass, head: chain.position.head, items, verdicts, errors, signature };
  return { ok: false, problem: purgedText(purged), ...about };
}

/** The items of every pass after the first are errors of the pass before it. */
function checkTotals(chain: Chain, { pass, counts }: Manifest): void {
  const { items, errors: first } = chain.commits.counts(1);
  let errors = first;
  for (let later = 2; later <= pass; later++) {
    const again = chain.commits.counts(later);
    errors += again.errors - again.items;
  }
  if (counts.items === items && counts.errors === errors && counts.verdicts === items - errors) return;
  throw new Failure('internal', `the counts in ${RUN_FILES.manifest} are not those of the log`);
}
