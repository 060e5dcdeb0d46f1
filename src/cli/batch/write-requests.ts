import { resolveRunConfig } from '../../config/resolve.ts';
import { JSON_RESULT, QUIET } from '../../config/settings/entries/commands.ts';
import { REQUESTS_FOLDER } from '../../config/settings/entries/output.ts';
import { type Flags, valuesOf } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import { formatCliCommand } from '../../domain/text/cli-command.ts';
import { plural } from '../../domain/text/plural.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import type { CommandContext } from '../context.ts';

/** `batch export`: writes the requests of a run that is not begun. Failure('usage') for what cannot be a batch. */
export async function writeRequests(
  paths: readonly string[],
  flags: Flags,
  context: CommandContext,
): Promise<void> {
  const { env, cwd, stdout, stderr, interrupts } = context;
  const {
    requests: folder,
    json,
    quiet,
  } = await valuesOf({ requests: REQUESTS_FOLDER, json: JSON_RESULT, quiet: QUIET }, { flags, env, cwd });
  if (folder === null) throw new Failure('usage', 'name a new folder for the request files with --requests');
  const resolved = await resolveRunConfig({ paths, flags, env, cwd });
  // What a guard refuses for its length cannot be asked again in windows.
  const config = { ...resolved.config, judging: { ...resolved.config.judging, longText: 'error' as const } };
  const [{ batchRequests }, { writeBatchFolder }, { makeRequests }] = await Promise.all([
    import('../../guard-setup/batch-guards.ts'),
    import('../../runs/batch/batch-folder.ts'),
    import('../../runs/batch/make-requests.ts'),
  ]);
  const { drain, stop } = interrupts;
  let found = { items: 0, byError: {} } as Awaited<ReturnType<typeof makeRequests>>;
  const files = await writeBatchFolder(folder, config, async (requests) => {
    const pool = await batchRequests(config, requests, drain);
    if (!quiet) stderr.line(`guardsweep: writing requests to ${quoteName(folder)}; nothing is sent`);
    found = await makeRequests(config, pool, { drain, stop });
  });
  const { items, byError } = found;
  const requests = files.reduce((sum, file) => sum + file.requests, 0);
  if (json) {
    stdout.json({ schema: 1, folder, items, requests, not_asked: byError, files });
    return;
  }
  const failed = Object.entries(byError).map(([code, count]) => `${counted(count, 'item')} as ${code}`);
  stdout.lines([
    `${counted(items, 'item')}, ${counted(requests, 'request')} with those of the canaries, in ${counted(files.length, 'file')}:`,
    ...files.map((file) => `  ${file.name}  ${counted(file.requests, 'request')}`),
    ...(failed.length === 0 ? [] : [`Not asked, and errors of the run: ${failed.join(', ')}`]),
    'When the batches are done:',
    `  ${formatCliCommand('batch', ['import', folder, 'RESULTS.jsonl'], env)}`,
    folder,
  ]);
}

function counted(count: number, what: string): string {
  return `${count.toLocaleString('en-US')} ${plural(count, what)}`;
}
