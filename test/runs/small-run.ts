import { join } from 'node:path';
import { DEFAULT_LIMITS, type RunConfig, type Trial } from '../../src/config/run-config.ts';
import { Failure } from '../../src/domain/failure.ts';
import { makeFingerprint } from '../../src/domain/fingerprint.ts';
import type { ItemCode } from '../../src/domain/item-error.ts';
import { wholeCoverage } from '../../src/domain/coverage.ts';
import type { GuardRequest } from '../../src/domain/request.ts';
import { expandSources } from '../../src/ingest/discover/expand.ts';
import type { Judge } from '../../src/moderate/parts/judge-parts.ts';
import { continueRun, type ContinueOptions } from '../../src/runs/continue-run.ts';
import { createRun, type Run } from '../../src/runs/create-run.ts';
import { openRun } from '../../src/runs/open-run.ts';
import { temporaryFolder, writeFiles } from '../helpers/cli.ts';
import { judgement } from '../helpers/moderation.ts';
import { corpusAt, runConfig } from '../helpers/run-config.ts';
import { failed } from '../record/shards.ts';

export type { Run };

export const never = new AbortController().signal;

/**
 * A judge that allows everything but what `refuse` names; `answers` is how many requests it lives for, `model` one hex
 * digit that tells its fingerprint from another's.
 */
export function judge(
  options: { answers?: number; refuse?: (request: GuardRequest) => ItemCode | null; model?: string } = {},
): Judge {
  const fingerprint = makeFingerprint([['weights', (options.model ?? 'a').repeat(64)]])!;
  let left = options.answers ?? Infinity;
  return {
    fingerprints: new Map([[fingerprint.id, fingerprint]]),
    judge: async (requests) => {
      left -= requests.length;
      if (left < 0) throw new Failure('service', 'the guard went away');
      return requests.map((request) => {
        const code = options.refuse?.(request) ?? null;
        if (code !== null) return failed(code);
        return judgement(0.1, { fingerprint: fingerprint.id, coverage: wholeCoverage(request) });
      });
    },
  };
}

/** A run that was created from a configuration, with the key of its user or none. */
export async function createdFrom(config: RunConfig, key: Buffer | null = null): Promise<Run> {
  const { sources, ...skips } = await expandSources(config.sources, never);
  const about = { now: new Date(), toolVersion: '0.0.0', fittedHeaders: [], key };
  return createRun(config, sources, { ...about, ...skips });
}

/** A new run over the folder `uploads` below `folder`, in shards of ten items. */
export function createdRun(folder: string, trial: Trial | null = null): Promise<Run> {
  const limits = { ...DEFAULT_LIMITS, shardItems: 10 };
  return createdFrom(runConfig(join(folder, 'runs'), [corpusAt(join(folder, 'uploads'))], { trial, limits }));
}

/** The same over these files. */
export async function runOver(files: Readonly<Record<string, string>>, trial: Trial | null = null) {
  const folder = await temporaryFolder();
  await writeFiles(join(folder, 'uploads'), files);
  return { folder, run: await createdRun(folder, trial) };
}

/** Continues a run with a judge, or with none to be had. */
export async function go(run: Run, by: Judge | Failure, options: Partial<ContinueOptions> = {}) {
  const connect: ContinueOptions['connect'] = async () => {
    if (by instanceof Failure) throw by;
    return { ...by, readModels: async () => [...by.fingerprints.keys()] };
  };
  const ignore = (): undefined => undefined;
  const quiet = { retry: false, connect, drain: never, stop: never, say: ignore, watch: ignore };
  return continueRun(await openRun(run.dir, never), { ...quiet, ...options });
}

/** A table with the columns id and text. */
export const rows = (name: string, from: number, count: number): string =>
  'id,text\n' +
  Array.from({ length: count }, (_, row) => `${name}${from + row},text ${from + row}\n`).join('');
