import { join } from 'node:path';
import { DEFAULT_LIMITS, NO_GATES, type RunConfig, type SourceConfig } from '../../src/config/run-config.ts';
import { wholeCoverage } from '../../src/domain/coverage.ts';
import { makeFingerprint } from '../../src/domain/fingerprint.ts';
import { itemError } from '../../src/domain/item-error.ts';
import type { Judgement, Outcome, OutcomeLine } from '../../src/domain/outcome.ts';
import { DEFAULT_POLICY, type Policy } from '../../src/domain/policy.ts';
import type { GuardRequest } from '../../src/domain/request.ts';
import { expandSources } from '../../src/ingest/discover/expand.ts';
import type { Judge } from '../../src/moderate/parts/judge-parts.ts';
import { continueRun } from '../../src/runs/continue-run.ts';
import { createRun } from '../../src/runs/create-run.ts';
import { openRun } from '../../src/runs/open-run.ts';
import { runKey, runKeyFile } from '../../src/runs/trust/run-key.ts';
import { DEFAULT_JUDGING } from './judging.ts';
import { outcomes } from './run-directory.ts';

export const NEVER = new AbortController().signal;

const FINGERPRINT = makeFingerprint([['weights', 'a'.repeat(64)]])!;
const NOW = '2026-01-01T00:00:00.000Z';

export type Verdict = Pick<Judgement, 'score' | 'flagged' | 'subcategoryScores' | 'subcategoryFlags'>;

export const ALLOWED: Verdict = {
  ...{ score: 0.1, flagged: false },
  ...{ subcategoryScores: null, subcategoryFlags: null },
};
export const HATEFUL: Verdict = {
  ...{ score: 0.9, flagged: true },
  ...{ subcategoryScores: { hate: 0.9 }, subcategoryFlags: ['hate'] },
};
export const RESTRICTED: Verdict = {
  ...{ score: 0.95, flagged: true },
  subcategoryScores: { child_sexual_exploitation: 0.95 },
  subcategoryFlags: ['child_sexual_exploitation'],
};

/** What a request says, media by their captions. */
export function wordsOf(request: GuardRequest): string {
  if (request.modality === 'image') return request.caption ?? '';
  if (request.modality === 'audio') return request.transcript ?? '';
  switch (request.requestType) {
    case 'prompt':
      return request.text;
    case 'response':
      return request.response;
    case 'generation':
      return request.chunks.join('');
    case 'multiturn':
      return request.messages[request.turns - 1]![1];
  }
}

interface JudgedRunOptions {
  /** Default: texts with the word RESTRICTED or HATE are. */
  readonly verdictOn?: (request: GuardRequest) => Verdict;
  /** Longer texts are judged in windows. */
  readonly maxBytes?: number;
  readonly source?: Partial<SourceConfig>;
  /** Name of the run. */
  readonly title?: string;
  /** Default: what the guard flags is blocked. */
  readonly policy?: Policy;
  /** Default: jsonl. */
  readonly formats?: RunConfig['output']['formats'];
  /** Whether the run is one that this user created. Default: true. */
  readonly own?: boolean;
}

export interface JudgedRun {
  /** Folder of the runs. */
  readonly out: string;
  readonly dir: string;
  readonly name: string;
  readonly lines: readonly OutcomeLine[];
}

const byWords = (request: GuardRequest): Verdict => {
  const words = wordsOf(request);
  if (words.includes('RESTRICTED')) return RESTRICTED;
  return words.includes('HATE') ? HATEFUL : ALLOWED;
};

/** A finished run over a file or folder, beside it in `runs`. */
export async function judgedRun(
  folder: string,
  path: string,
  {
    verdictOn = byWords,
    maxBytes = Infinity,
    source = {},
    policy = DEFAULT_POLICY,
    formats = ['jsonl'],
    title = 'test',
    own = true,
  }: JudgedRunOptions = {},
): Promise<JudgedRun> {
  const out = join(folder, 'runs');
  const recognised = { textColumns: null, idColumn: null, encoding: null, layout: null, header: null };
  const config: RunConfig = {
    name: title,
    sources: [{ path, given: path, audit: 'final', asStream: null, ...recognised, ...source }],
    guards: ['grpc://127.0.0.1:1'],
    expectFingerprint: null,
    policy,
    output: { dir: out, formats, csvSeparator: ',', includeContent: false },
    ...{ store: join(out, '.store'), reuse: false, trial: null, canaries: { from: 'off' } },
    failIf: NO_GATES,
    allowErrors: true,
    allowEmpty: false,
    maxWaitMs: 1000,
    judging: DEFAULT_JUDGING,
    limits: DEFAULT_LIMITS,
  };
  const { sources, ...skips } = await expandSources(config.sources, NEVER);
  const key = own ? await runKey(runKeyFile(process.env)) : null;
  const { dir, record } = await createRun(config, sources, {
    ...{ now: new Date(), toolVersion: '0.0.0', ...skips, fittedHeaders: [], key },
  });
  await continueRun(await openRun(dir, NEVER), {
    retry: false,
    connect: async () => ({
      ...scripted(verdictOn, maxBytes),
      readModels: async () => [FINGERPRINT.id],
    }),
    drain: NEVER,
    stop: NEVER,
    say: () => undefined,
    watch: () => undefined,
  });
  return { out, dir, name: record.run, lines: await outcomes(dir) };
}

function scripted(verdictOn: (request: GuardRequest) => Verdict, maxBytes: number): Judge {
  return {
    fingerprints: new Map([[FINGERPRINT.id, FINGERPRINT]]),
    judge: async (requests) =>
      requests.map((request): Outcome => {
        const isLong = request.modality === 'text' && Buffer.byteLength(wordsOf(request)) > maxBytes;
        if (isLong) {
          const error = itemError('SEQUENCE_OVERFLOW', 'too long');
          return { judgement: null, failure: { error, attempts: 1, endpoint: 'test:', moderatedAt: NOW } };
        }
        const how = { endpoint: 'test:', latencyMs: 1, attempts: 1, cacheUsage: null, moderatedAt: NOW };
        const judgement = { ...verdictOn(request), ...how, fingerprint: FINGERPRINT.id, stream: null };
        return { judgement: { ...judgement, coverage: wholeCoverage(request) }, failure: null };
      }),
  };
}
