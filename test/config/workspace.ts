import { resolveRunConfig } from '../../src/config/resolve.ts';
import type { Flags } from '../../src/config/settings/given.ts';
import type { RunConfig } from '../../src/config/run-config.ts';
import { Failure } from '../../src/domain/failure.ts';

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
