import { resolve } from 'node:path';
import type { z } from 'zod';
import { isJobFile, readJobFile } from '../../config/job-file/job-file.ts';
import { resolveRunConfig } from '../../config/resolve.ts';
import { EXPORT_CLEAN, HEAD_FILE, ON_FINISH } from '../../config/settings/entries/after-run.ts';
import {
  CANARIES,
  GUARD_CA,
  GUARD_CERT,
  GUARD_KEY,
  GUARD_POLICY,
} from '../../config/settings/entries/guard.ts';
import { POLICY, STORE } from '../../config/settings/entries/judging.ts';
import { type Flags, given } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import { decodePath } from '../../domain/file-path.ts';
import { escapeText } from '../../domain/text/escape-text.ts';
import { realPath } from '../../files/open-inside.ts';
import type { START_RUN } from '../api/runs.ts';
import { DashboardError } from '../errors.ts';
import type { Roots } from './roots.ts';

export type AskedRun = z.output<typeof START_RUN>;

/** What is the server's choice for new runs, not that of whoever starts them. */
export interface NewRunRules {
  /** Absolute folder in which they are created. */
  readonly out: string;
  readonly roots: Roots;
  /** The guards that judge them; none: the workers of a fleet. */
  readonly guards: readonly string[];
  /** Absolute path of the written policy by which they judge; null: none. */
  readonly guardPolicy: string | null;
  readonly env: NodeJS.ProcessEnv;
}

/** Keys of job files that name other files to read or write, or commands to run. */
const OTHER_FILES = [
  ...[ON_FINISH, HEAD_FILE, EXPORT_CLEAN, STORE, CANARIES],
  ...[GUARD_CA, GUARD_CERT, GUARD_KEY],
];

/**
 * The arguments of the command that creates and judges a run. INVALID_REQUEST for what the command would refuse, and
 * FORBIDDEN when a corpus, a job file or a policy is not in the folders that may be read.
 */
export async function enqueueArguments(asked: AskedRun, rules: NewRunRules): Promise<string[]> {
  const { out, roots, guards, guardPolicy, env } = rules;
  const named = asked.paths.map((path) => roots.absolute(path));
  for (const path of named) await assertInside(path, roots, 'paths');
  // What is checked here is what the command reads, although links may be changed meanwhile.
  const paths = await Promise.all(named.map(async (path) => (isJobFile(path) ? resolved(path) : path)));
  const policy = asked.policy === null ? null : await policyPath(roots.absolute(asked.policy), roots);
  const flags: Record<string, Flags[string]> = { out };
  if (guards.length > 0) flags['guard'] = guards;
  if (guards.length > 0 && guardPolicy !== null) flags['guardPolicy'] = guardPolicy;
  if (policy !== null) flags['policy'] = policy;
  if (asked.name !== null) flags['name'] = asked.name;
  if (asked.text_columns !== null) flags['textColumn'] = asked.text_columns;
  if (asked.encoding !== null) flags['encoding'] = asked.encoding;
  const [first] = paths;
  if (isJobFile(first!)) await assertHarmless(first!, roots);
  const cwd = roots.folders[0]!;
  const fleet = guards.length === 0;
  const { config } = await resolveRunConfig({ paths, flags, env, cwd, fleet }).catch(asAnswer);
  for (const { path } of config.sources) await assertInside(path, roots, 'paths');
  const typed = Object.entries(flags).flatMap(([name, values]) =>
    [values].flat().map((value) => `${flagOf(name)}=${String(value)}`),
  );
  return ['enqueue', '--quiet', ...typed, '--', ...paths];
}

/** `--guard-policy` for `guardPolicy`. */
function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

async function assertInside(path: string, roots: Roots, field: keyof AskedRun): Promise<void> {
  if (await roots.contains(path)) return;
  throw new DashboardError(
    'FORBIDDEN',
    `${escapeText(path)} is not there, or in no folder that the dashboard may read: see --root`,
    field,
  );
}

/** What is wrong with a policy is told with the text in question, which must not be that of an item. */
async function policyPath(named: string, roots: Roots): Promise<string> {
  await assertInside(named, roots, 'policy');
  const path = await resolved(named);
  if (isJobFile(path)) return path;
  throw new DashboardError('INVALID_REQUEST', 'a policy is a file with the ending .yaml or .yml', 'policy');
}

/** The path with all links resolved; as it is if there is nothing. */
async function resolved(path: string): Promise<string> {
  const real = await realPath(path).catch(() => path);
  return decodePath(real).toString();
}

/** A mistake names the flag that the command would have been given. */
function asAnswer(error: unknown): never {
  if (!(error instanceof Failure) || error.kind !== 'usage') throw error;
  const [, flag] = /^--(name|policy|encoding): /.exec(error.message) ?? [];
  throw new DashboardError('INVALID_REQUEST', error.message, flag ?? 'paths');
}

/** A job file may be part of what somebody handed over. */
async function assertHarmless(path: string, roots: Roots): Promise<void> {
  const file = await readJobFile(path, '/').catch(asAnswer);
  const from = { flags: {}, file, env: {}, cwd: file.folder };
  const found = OTHER_FILES.find((setting) => given(setting, from) !== null);
  if (found !== undefined) {
    throw new DashboardError(
      'FORBIDDEN',
      `the job file sets ${found.key}, which is not done from here: start it with guardsweep enqueue`,
      'paths',
    );
  }
  for (const setting of [POLICY, GUARD_POLICY]) {
    const policy = given(setting, from);
    if (policy !== null) await assertInside(resolve(policy.folder, policy.texts[0].value), roots, 'paths');
  }
}
