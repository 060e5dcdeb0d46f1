import type { Judging } from '../../src/config/run-config.ts';
import { DEFAULT_JUDGING } from './run-config.ts';
import { makeFingerprint } from '../../src/domain/fingerprint.ts';
import type { Shard, ShardResult } from '../../src/domain/shard.ts';
import type { Judgement, Outcome } from '../../src/domain/outcome.ts';
import type { GuardRequest } from '../../src/domain/request.ts';
import type { Judge } from '../../src/moderate/parts/judge-parts.ts';
import { CorpusFolders } from '../../src/moderate/media/corpus-folders.ts';
import type { MediaNormalizer } from '../../src/moderate/media/media-judge.ts';
import { Moderator } from '../../src/moderate/moderator.ts';

/** The model that `judgement` says it was. */
export const MODEL = makeFingerprint([['weights', 'a'.repeat(64)]])!;

/** A verdict of a guard; what a test does not say is ordinary. */
export function judgement(score: number, other: Partial<Judgement> = {}): Outcome {
  return {
    judgement: {
      score,
      flagged: score >= 0.5,
      subcategoryScores: null,
      subcategoryFlags: null,
      fingerprint: MODEL.id,
      endpoint: 'embedded:',
      latencyMs: 1,
      attempts: 1,
      cacheUsage: null,
      moderatedAt: '2026-01-01T00:00:00.000Z',
      stream: null,
      coverage: { unit: 'chars', judged: 1, total: 1, worst_at: null },
      ...other,
    },
    failure: null,
  };
}

/** A judge with one model that has its outcome on each request. */
export function judgeBy(outcomeOf: (request: GuardRequest) => Outcome, model = MODEL): Judge {
  return {
    fingerprints: new Map([[model.id, model]]),
    judge: async (requests) => requests.map(outcomeOf),
  };
}

/** Takes a shard through a judge, in one process; where its media are is said where it has any. */
export function moderateShard(
  shard: Pick<Shard, 'items'>,
  judge: Judge,
  options: {
    readonly judging?: Partial<Judging>;
    readonly roots?: ReadonlyMap<string, string>;
    readonly normalizer?: MediaNormalizer;
  } = {},
): Promise<ShardResult> {
  const { roots = new Map<string, string>(), normalizer = NO_MEDIA } = options;
  const moderator = new Moderator({ judge, normalizer, folders: new CorpusFolders(roots) });
  return moderator.moderate(
    { shard: 0, pass: 1, lane: 'text', items: shard.items },
    {
      judging: { ...DEFAULT_JUDGING, ...options.judging },
      session: 'run-1',
      signal: new AbortController().signal,
    },
  );
}

/** Moderates where no media are. */
export const textModerator = (judge: Judge): Moderator =>
  new Moderator({ judge, normalizer: NO_MEDIA, folders: new CorpusFolders(new Map()) });

const refuse = () => Promise.reject(new Error('there are no media here'));
const NO_MEDIA: MediaNormalizer = { image: refuse, audio: refuse, tracks: refuse, video: refuse };
