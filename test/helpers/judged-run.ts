import { join } from 'node:path';
import type { RunConfig, SourceConfig } from '../../src/config/run-config.ts';
import { wholeCoverage } from '../../src/domain/coverage.ts';
import type { Judgement, OutcomeLine } from '../../src/domain/outcome.ts';
import { DEFAULT_POLICY, type Policy } from '../../src/domain/policy.ts';
import type { GuardRequest } from '../../src/domain/request.ts';
import type { CategoryKey } from '../../src/domain/taxonomy.ts';
import type { Judge } from '../../src/moderate/parts/judge-parts.ts';
import { runKey, runKeyFile } from '../../src/runs/trust/run-key.ts';
import { failed } from '../record/shards.ts';
import { createdFrom, go } from '../runs/small-run.ts';
import { judgeBy, judgement } from './moderation.ts';
import { corpusAt, runConfig } from './run-config.ts';
import { outcomes } from './run-directory.ts';

export const NEVER = new AbortController().signal;

export type Verdict = Pick<Judgement, 'score' | 'flagged' | 'subcategoryScores' | 'subcategoryFlags'>;

/** Flagged for one category, with this score. */
export const flaggedFor = (category: CategoryKey, score = 0.9): Verdict => {
  return { score, flagged: true, subcategoryScores: { [category]: score }, subcategoryFlags: [category] };
};
const NO_CATEGORIES = { subcategoryScores: null, subcategoryFlags: null };
export const ALLOWED: Verdict = { score: 0.1, flagged: false, ...NO_CATEGORIES };
export const HATEFUL = flaggedFor('hate');
export const RESTRICTED = flaggedFor('child_sexual_exploitation', 0.95);

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
  options: JudgedRunOptions = {},
): Promise<JudgedRun> {
  const { verdictOn = byWords, maxBytes = Infinity, source = {}, policy = DEFAULT_POLICY } = options;
  const { formats = ['jsonl'], title = 'test', own = true } = options;
  const out = join(folder, 'runs');
  const config = runConfig(out, [corpusAt(path, { given: path, ...source })], { name: title, policy });
  const output = { ...config.output, formats };
  const key = own ? await runKey(runKeyFile(process.env)) : null;
  const { dir, record } = await createdFrom({ ...config, output, allowErrors: true }, key);
  await go({ dir, record, sources: [] }, scripted(verdictOn, maxBytes));
  return { out, dir, name: record.run, lines: await outcomes(dir) };
}

function scripted(verdictOn: (request: GuardRequest) => Verdict, maxBytes: number): Judge {
  return judgeBy((request) => {
    const isLong = request.modality === 'text' && Buffer.byteLength(wordsOf(request)) > maxBytes;
    if (isLong) return failed('SEQUENCE_OVERFLOW');
    const verdict = verdictOn(request);
    return judgement(verdict.score, { ...verdict, coverage: wholeCoverage(request) });
  });
}
