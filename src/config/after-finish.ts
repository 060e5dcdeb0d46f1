import type { KeyObject } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { openForAppending } from '../files/create-file.ts';
import { runDirectoryAround } from '../files/outside-runs.ts';
import type { JobFile } from './job-file/job-file.ts';
import { mistake } from './mistake.ts';
import { signingKeyOf } from './keys/signing-key.ts';

/** Flags as typed; absent ones were not given. */
export interface AfterFinishFlags {
  readonly headFile?: string | undefined;
  readonly onFinish?: readonly string[] | undefined;
}

/**
 * What is done once a run is finished, so that its record can be told from one that was made anew. None of it comes from
 * a run directory: that may be another's.
 */
export interface AfterFinish {
  /** Ed25519 private key that the manifest is signed with by whoever writes it; null: it is not signed. */
  readonly signingKey: KeyObject | null;
  /** Absolute path of the file that the chain head is noted in; null: in none. */
  readonly headFile: string | null;
  /** A program, by its name or absolute path, and its arguments; empty: none is run. */
  readonly onFinish: readonly string[];
}

/**
 * Flags over the job file; the signing key from the environment. Creates the head file, so that one that cannot be
 * written is known at the start. Failure('usage') names the first mistake.
 */
export async function afterFinishOf(
  flags: AfterFinishFlags,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  file: JobFile | null = null,
): Promise<AfterFinish> {
  const inJob = file?.job.onFinish;
  const fromJob = inJob === undefined ? [] : [inJob].flat();
  const onFinish =
    flags.onFinish === undefined ? command(fromJob, file?.folder ?? cwd) : command(flags.onFinish, cwd);
  const signingKey = await signingKeyOf(env);
  return { signingKey, headFile: await headFileOf(flags, cwd, file), onFinish };
}

/** A program without a slash is looked up in PATH. */
function command(words: readonly string[], folder: string): readonly string[] {
  const [program, ...args] = words;
  if (program === undefined) return [];
  return [program.includes('/') ? resolve(folder, program) : program, ...args];
}

async function headFileOf(
  flags: AfterFinishFlags,
  cwd: string,
  file: JobFile | null,
): Promise<string | null> {
  const flagged = flags.headFile !== undefined;
  const given = flags.headFile ?? file?.job.headFile;
  if (given === undefined) return null;
  const place = flagged ? '--head-file' : `${file!.yaml.valueAt(['headFile'])}: headFile`;
  const path = resolve(flagged ? cwd : file!.folder, given);
  const around = await runDirectoryAround(path);
  if (around !== null) {
    throw mistake(
      place,
      `${path} is in the run directory ${around}: keep heads where others cannot change them`,
    );
  }
  try {
    await (await openForAppending(path)).close();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const what = code === 'ENOENT' ? `there is no folder ${dirname(path)}` : `cannot be written (${code})`;
    throw mistake(place, code === 'ENOENT' ? what : `${path} ${what}`, error);
  }
  return path;
}
