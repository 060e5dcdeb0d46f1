import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isJobFile, readJobFile } from '../../config/job-file/job-file.ts';
import { type ResolvedRun, resolveRunConfig } from '../../config/resolve.ts';
import type { Schedule } from '../../config/values/schedule.ts';
import { usageError } from '../../config/usage-error.ts';
import { Failure } from '../../domain/failure.ts';

/** Maximum files of a folder that are examined. */
const MAX_FILES = 1000;

/** A job file with a schedule. */
export interface ScheduledJob {
  /** Name of the schedule and its runs. */
  readonly name: string;
  /** Absolute path. */
  readonly path: string;
  readonly schedule: Schedule;
  /** Absolute folder of the schedule's runs. */
  readonly out: string;
  readonly resolved: ResolvedRun;
}

/** Context for completing the settings of a job file. */
export interface JobContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether a fleet judges the runs. */
  readonly fleet: boolean;
}

/**
 * Reads the job files of a folder that have a schedule, by name. Passes a file with a mistake to `reject` with its
 * Failure and omits it. Failure('usage') for a folder that cannot be read.
 */
export async function readJobFolder(
  folder: string,
  context: JobContext,
  reject: (path: string, mistake: Failure) => void,
): Promise<Map<string, ScheduledJob>> {
  const jobs = new Map<string, ScheduledJob>();
  for (const name of await jobFiles(folder)) {
    const path = join(folder, name);
    try {
      const job = await readScheduledJob(path, context);
      if (job === null) continue;
      const first = jobs.get(job.name);
      if (first !== undefined)
        throw usageError(
          path,
          `has the name ${job.name}, as ${first.path} has: schedules need different names`,
        );
      jobs.set(job.name, job);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      reject(path, error);
    }
  }
  return jobs;
}

/** Reads a job file as a schedule; null if it has none, or if the file is gone. Failure('usage') for a mistake. */
export async function readScheduledJob(
  path: string,
  { cwd, env, fleet }: JobContext,
): Promise<ScheduledJob | null> {
  const { yaml } = await readJobFile(path, cwd);
  if ((yaml.data as { readonly schedule?: unknown }).schedule === undefined) return null;
  const resolved = await resolveRunConfig({ paths: [path], flags: {}, env, cwd, fleet });
  const { config, schedule } = resolved;
  return schedule && { name: config.name, path, schedule, out: config.output.dir, resolved };
}

async function jobFiles(folder: string): Promise<string[]> {
  try {
    const names = (await readdir(folder)).filter((name) => isJobFile(name) && !name.startsWith('.'));
    if (names.length <= MAX_FILES) return names.sort();
  } catch (error) {
    throw usageError(folder, 'is not a folder that can be read', error);
  }
  throw usageError(folder, `holds more than ${MAX_FILES} job files`);
}
