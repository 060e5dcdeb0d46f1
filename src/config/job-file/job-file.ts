import { dirname, resolve } from 'node:path';
import { checkShape } from '../yaml/check-shape.ts';
import { readYamlFile, type YamlFile } from '../yaml/yaml-file.ts';
import { assertOwnJobFile } from './job-file-owner.ts';
import { JOB_SCHEMA } from './job-schema.ts';

/** A job file of the right shape. Its values are read through the settings. */
export interface JobFile {
  readonly yaml: YamlFile;
  readonly sourceCount: number;
  /** Absolute folder of the file, which its paths are relative to. */
  readonly folder: string;
}

/** Whether an argument of `enqueue` names a job file rather than a corpus. */
export function isJobFile(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}

/**
 * Reads a job file. Failure('usage') for the first mistake in its shape, with its line and column, and for a file that
 * another user can change.
 */
export async function readJobFile(path: string, cwd: string): Promise<JobFile> {
  const absolute = resolve(cwd, path);
  const yaml = await readYamlFile(absolute, { value: path, place: 'argument' }, (stats) =>
    assertOwnJobFile(stats, path),
  );
  const { sources } = checkShape(JOB_SCHEMA, yaml) as { readonly sources: readonly unknown[] };
  return { yaml, sourceCount: sources.length, folder: dirname(absolute) };
}
