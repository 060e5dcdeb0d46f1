import { join } from 'node:path';
import {
  DEFAULT_LIMITS,
  NO_GATES,
  type Replay,
  type RunConfig,
  type Trial,
} from '../../src/config/run-config.ts';
import { DEFAULT_JUDGING } from '../helpers/judging.ts';
import { Failure } from '../../src/domain/failure.ts';
import { makeFingerprint } from '../../src/domain/fingerprint.ts';
import { itemError, type ItemCode } from '../../src/domain/item-error.ts';
import { wholeCoverage } from '../../src/domain/coverage.ts';
import type { Outcome } from '../../src/domain/outcome.ts';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import type { GuardRequest } from '../../src/domain/request.ts';
import { expandSources } from '../../src/ingest/discover/expand.ts';
import type { Judge } from '../../src/moderate/parts/judge-parts.ts';
import { continueRun, type Continued, type ContinueOptions } from '../../src/runs/continue-run.ts';
import { createRun, type Run } from '../../src/runs/create-run.ts';
import { openRun } from '../../src/runs/open-run.ts';

export type { Run };

export const never = new AbortController().signal;
const now = '2026-01-01T00:00:00.000Z';

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
      return requests.map((request): Outcome => {
        const code = options.refuse?.(request) ?? null;
        if (code !== null) {
          const failure = {
            error: itemError(code, 'refused'),
            attempts: 1,
            endpoint: 'test:',
            moderatedAt: now,
          };
          return { judgement: null, failure };
        }
        const judgement = {
          ...{
            score: 0.1,
            flagged: false,
            subcategoryScores: null,
            subcategoryFlags: null,
            cacheUsage: null,
            stream: null,
          },
          ...{ fingerprint: fingerprint.id, endpoint: 'test:', latencyMs: 1, attempts: 1, moderatedAt: now },
          coverage: wholeCoverage(request),
        };
        return { judgement, failure: null };
      });
    },
  };
}

/** A new run over the folder `uploads` below `folder`, in shards of ten items; `asStream` and `trial` as configured. */
export async function createdRun(
  folder: string,
  asStream: Replay | null = null,
  trial: Trial | null = null,
): Promise<Run> {
  const uploads = join(folder, 'uploads');
  const source = { path: uploads, given: 'uploads', textColumns: null, idColumn: null } as const;
  const config: RunConfig = {
    name: 'test',
    sources: [{ ...source, audit: 'final', asStream, encoding: null, layout: null, header: null }],
    guards: ['grpc://127.0.0.1:1'],
    expectFingerprint: null,
    policy: DEFAULT_POLICY,
    output: {
      dir: join(folder, 'runs'),
      formats: ['jsonl', 'csv'],
      csvSeparator: ',',
      includeContent: false,
    },
    ...{
      store: join(folder, 'runs', '.store'),
      reuse: false,
      trial,
      canaries: { from: 'off' },
    },
    failIf: NO_GATES,
    allowErrors: false,
    allowEmpty: false,
    maxWaitMs: 1000,
    judging: DEFAULT_JUDGING,
    limits: { ...DEFAULT_LIMITS, shardItems: 10 },
  };
  const { sources, ...skips } = await expandSources(config.sources, never);
  const options = { now: new Date(), toolVersion: '0.0.0', ...skips, fittedHeaders: [], key: null };
  return createRun(config, sources, options);
}

/** Continues a run with a judge, or with none to be had. */
export async function go(
  run: Run,
  by: Judge | Failure,
  options: Partial<ContinueOptions> = {},
): Promise<Continued> {
  return continueRun(await openRun(run.dir, never), {
    retry: false,
    connect: async () => {
      if (by instanceof Failure) throw by;
      return { ...by, readModels: async () => [...by.fingerprints.keys()] };
    },
    drain: never,
    stop: never,
    say: () => undefined,
    watch: () => undefined,
    ...options,
  });
}

/** A table with the columns id and text. */
export const rows = (name: string, from: number, count: number): string =>
  'id,text\n' +
  Array.from({ length: count }, (_, row) => `${name}${from + row},text ${from + row}\n`).join('');
