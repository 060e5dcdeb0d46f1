import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunRecord } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { readSources } from '../../ingest/sources/sources-file.ts';
import type { Chain } from '../log/chain.ts';
import { CommitTable } from '../log/commit-table.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { readSourceHashes } from '../manifest/source-hashes.ts';
import { isComplete, outlinePlan, type PlanOutline } from '../outcomes/plan-outline.ts';

/** Reads the plan, before the log, so shard numbers beyond it cannot use memory. */
export function outlinePlanOf(runDir: string, manifest: Manifest, signal: AbortSignal): Promise<PlanOutline> {
  const path = join(runDir, RUN_FILES.plan);
  return outlinePlan(path, new CommitTable(), { signal, bytes: planBytes(manifest) });
}

function planBytes({ files }: Manifest): number {
  return files.find(({ path }) => path === RUN_FILES.plan)?.bytes ?? 0;
}

/** Checks that every shard committed in the chain is planned; a complete plan has exactly as many shards. */
export async function checkPlan(
  runDir: string,
  outline: PlanOutline,
  chain: Chain,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<PlanOutline> {
  const path = join(runDir, RUN_FILES.plan);
  const bytes = planBytes(manifest);
  const plan = { ...outline, committed: chain.commits.shards };
  if (!isComplete(plan) || plan.bytes !== bytes || plan.pass !== manifest.pass) {
    throw broken(`${RUN_FILES.plan} is not the plan of a finished pass ${manifest.pass}`);
  }
  const { size } = await stat(path);
  if (size > bytes) {
    const whole = await outlinePlan(path, chain.commits, { signal });
    const same =
      whole.epoch === plan.epoch &&
      whole.shards === plan.shards &&
      whole.closed.length === plan.closed.length;
    if (!same) {
      throw broken(`${RUN_FILES.plan} was continued after the run was finished`);
    }
  }
  return plan;
}

export async function checkSources(
  runDir: string,
  record: RunRecord,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<void> {
  const frozen = manifest.files.find(({ path }) => path === RUN_FILES.sources)?.sha256;
  if (frozen !== record.sources_sha256) {
    throw broken(`${RUN_FILES.sources} is not the list of files that ${RUN_FILES.run} froze`);
  }
  const skipped = manifest.files.find(({ path }) => path === RUN_FILES.skipped)?.sha256;
  if (skipped !== record.skipped_sha256) {
    throw broken(`${RUN_FILES.skipped} is not the list of files that ${RUN_FILES.run} froze`);
  }
  let sources = 0;
  for await (const batch of readSources(join(runDir, RUN_FILES.sources), { signal })) sources += batch.length;
  if (sources !== manifest.sources) {
    throw broken(
      `${RUN_FILES.sources} has ${sources} sources, but ${RUN_FILES.manifest} counts ${manifest.sources}`,
    );
  }
  let hashes = 0;
  for await (const { source } of readSourceHashes(runDir, signal)) hashes = source + 1;
  if (hashes !== sources) {
    throw broken(`${RUN_FILES.sourceHashes} has the hashes of ${hashes} sources, not of ${sources}`);
  }
}

function broken(what: string): Failure {
  return new Failure('internal', what);
}
