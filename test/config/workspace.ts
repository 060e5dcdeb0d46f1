import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { resolveRunConfig } from '../../src/config/resolve.ts';
import type { Flags } from '../../src/config/settings/given.ts';
import type { RunConfig } from '../../src/config/run-config.ts';
import { Failure } from '../../src/domain/failure.ts';
import { temporaryFolder } from '../helpers/cli.ts';

/** A folder with the given files, removed after the test. */
export async function workspace(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

export interface Given {
  readonly paths?: string[];
  readonly flags?: Flags;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd: string;
}

export async function resolved({ paths = ['a.csv'], flags = {}, env = {}, cwd }: Given): Promise<RunConfig> {
  return (await resolveRunConfig({ paths, flags, env, cwd })).config;
}

/** The one line a user gets; fails when the configuration is accepted. */
export async function mistakeIn(given: Given): Promise<string> {
  const error = await resolved(given).catch((reason: unknown) => reason);
  if (!(error instanceof Failure) || error.kind !== 'usage')
    throw new Error('no mistake was found', { cause: error });
  return error.message;
}
