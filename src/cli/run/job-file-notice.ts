import type { RunConfig } from '../../config/run-config.ts';
import { shownName } from '../../domain/text/shown.ts';
import type { FeedUi } from '../context.ts';

/** Per list: corpora, guards, words of a command. */
const MAX_NAMED = 10;

/**
 * One line about what a job file and the flags make the run do. A user who meant to name a corpus (`uploads/*`) sees that
 * a job file runs instead. `path` is as the user typed it.
 */
export function jobFileNotice(
  path: string,
  config: RunConfig,
  { guardTls, afterFinish: { headFile, onFinish, exportClean } }: Pick<FeedUi, 'guardTls' | 'afterFinish'>,
): string {
  const guards = config.guards.length === 0 ? 'those of the workers' : named(config.guards, ', ');
  const parts = [
    `reads ${named(
      config.sources.map((source) => source.path),
      ', ',
    )}`,
    `guards: ${guards}`,
    `run directory in ${shownName(config.output.dir)}`,
  ];
  if (guardTls.cert !== null) parts.push(`presents the certificate in ${shownName(guardTls.cert.path)}`);
  if (exportClean !== null) parts.push(`writes clean rows to ${shownName(exportClean.out)}`);
  if (headFile !== null) parts.push(`notes heads in ${shownName(headFile)}`);
  if (onFinish.length > 0) parts.push(`then runs ${named(onFinish, ' ')}`);
  return `job file ${shownName(path)}: ${parts.join('; ')}`;
}

function named(names: readonly string[], separator: string): string {
  const some = names.slice(0, MAX_NAMED).map((name) => shownName(name));
  const more = names.length - some.length;
  return [...some, ...(more > 0 ? [`and ${more} more`] : [])].join(separator);
}
