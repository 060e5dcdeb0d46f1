import type { RunRecord } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES, commitsName } from '../../files/run-files.ts';
import {
  previousManifest,
  filesHash,
  manifestCanaries,
  manifestText,
  type Manifest,
} from '../manifest/manifest.ts';
import { FileComparison } from './file-comparison.ts';
import type { PlanOutline } from '../outcomes/plan-outline.ts';
import { trialCounts } from '../summary/trial.ts';
import type { RunTotals } from '../outcomes/run-totals.ts';
import type { Chain, Closing } from '../log/chain.ts';

/** Checks a manifest against the closing line at the end of the chain. Failure('internal') names what differs. */
export function checkClosing(closing: Closing, manifest: Manifest): void {
  const { epoch, lines } = closing.position;
  const say = (what: string): Failure =>
    new Failure(
      'internal',
      `${what} in ${RUN_FILES.manifest} is not what log/${commitsName(epoch)} line ${lines} holds`,
    );
  if (manifest.pass !== closing.closes) throw say('pass');
  if (manifest.finished_at !== closing.at) throw say('finished_at');
  if (filesHash(manifest.files, epoch) !== closing.files) throw say('the list of files');
}

interface ManifestOrigin {
  readonly closing: Closing;
  readonly record: RunRecord;
  readonly chain: Chain;
  readonly plan: PlanOutline;
  readonly totals: RunTotals;
}

/**
 * Renders the manifest again from what determines it, and compares; its list of files was checked against the closing line.
 * Failure('internal') names the first line that differs.
 */
export async function checkManifest(
  runDir: string,
  manifest: Manifest,
  { closing, record, chain, plan, totals }: ManifestOrigin,
): Promise<void> {
  const { sources, files } = manifest;
  const { items, verdicts, errors } = totals.counts;
  const file = await FileComparison.open(runDir, RUN_FILES.manifest);
  try {
    await file.write(
      manifestText({
        schema: 1,
        run: record.run,
        tool: record.tool,
        created_at: record.created_at,
        finished_at: closing.at,
        pass: closing.closes,
        epoch: closing.position.epoch,
        trial: trialCounts(record.config.trial, plan),
        counts: { items, verdicts, errors, corpora: [...totals.corpora] },
        fingerprints: [...chain.fingerprints.values()],
        canaries: manifestCanaries(record, chain),
        ...(record.tables && { tables: record.tables }),
        previous: previousManifest(files),
        sources,
        files,
        chain_head: closing.position.head,
      }),
    );
    await file.complete();
  } finally {
    await file.close();
  }
}
