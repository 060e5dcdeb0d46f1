import { resolve } from 'node:path';
import { afterFinishOf } from '../../config/after-finish.ts';
import { storeIn } from '../../config/resolve.ts';
import { JSON_RESULT, QUIET } from '../../config/settings/entries/commands.ts';
import { OUT } from '../../config/settings/entries/output.ts';
import { type Flags, givenValueOf, valuesOf } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import type { CommandContext, LoadRuns } from '../context.ts';

/** `batch import`: takes the results of exported requests as a run. Returns its exit status. */
export async function importResults(
  [given, ...results]: readonly string[],
  flags: Flags,
  context: CommandContext,
  loadRuns: LoadRuns,
): Promise<number> {
  const { env, cwd, interrupts } = context;
  const from = { flags, env, cwd };
  if (results.length === 0)
    throw new Failure(
      'usage',
      'name the folder of the request files, and then the result files of their batches',
    );
  const { readBatchFolder, namedResults } = await import('../../runs/batch/batch-folder.ts');
  const folder = resolve(cwd, given!);
  const exported = await readBatchFolder(folder);
  const out = await givenValueOf(OUT, from);
  const config = {
    ...exported,
    ...(out !== null && { output: { ...exported.output, dir: out }, store: storeIn(out) }),
    batch: await namedResults(
      folder,
      results.map((path) => resolve(cwd, path)),
      interrupts.drain,
    ),
  };
  const { json, quiet } = await valuesOf({ json: JSON_RESULT, quiet: QUIET }, from);
  return (await loadRuns()).enqueue(config, {
    ...{ ...context, json, quiet, typed: null, fleet: null, detach: false },
    guardTls: { ca: null, cert: null, key: null },
    startWaitMs: 0,
    afterFinish: await afterFinishOf(from),
  });
}
