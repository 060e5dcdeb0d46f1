import { join } from 'node:path';
import type { RunConfig } from '../config/run-config.ts';
import { type JudgedItem, type Lane, laneOf, LANES } from '../domain/item.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { ItemRequest } from '../domain/request.ts';
import { isThere } from '../files/folders.ts';
import { STORE_FILES } from '../files/store-files.ts';
import type { GuardPool } from '../guard/pool/pool.ts';
import type { FrozenSource } from '../ingest/plan/plan-line.ts';
import { corpusRoots } from '../ingest/sources/file-place.ts';
import { CorpusFolders } from '../moderate/media/corpus-folders.ts';
import { Moderator } from '../moderate/moderator.ts';
import { Normalizer } from '../normalize/normalizer.ts';
import { judgingText } from '../runs/reuse/recorded-verdicts.ts';
import { openStoreFor, type OpenStoreOptions } from '../runs/reuse/open-store.ts';
import type { Batch } from './statistics.ts';

/** Per lane: enough to see how they differ. */
const BATCHES = 8;
/** After this time no further batch is sent, in milliseconds. */
const MAX_MS = 120_000;

/** An item of the sample with its outcome. */
export interface JudgedSample {
  readonly item: JudgedItem;
  readonly outcome: Outcome;
}

export interface SampleResult {
  readonly judged: readonly JudgedSample[];
  /** By lane, in the order they were judged. */
  readonly batches: ReadonlyMap<Lane, readonly Batch[]>;
}

/**
 * Has a sample judged as a run would, in up to eight batches per lane, one batch after the other, each timed. One item of
 * each lane is judged before, so that starting decoders and models is not taken for the time of an item. The items
 * are in random order; `extra` ones are timed where the sample has fewer of their lane, and are no part of the result.
 * Rejects as `GuardPool.judge`.
 */
export async function judgeSample(
  { chosen, extra }: { readonly chosen: readonly JudgedItem[]; readonly extra: readonly JudgedItem[] },
  {
    config,
    sources,
    pool,
    signal,
  }: {
    readonly config: RunConfig;
    readonly sources: readonly FrozenSource[];
    readonly pool: GuardPool;
    readonly signal: AbortSignal;
  },
): Promise<SampleResult> {
  const normalizer = Normalizer.open();
  const folders = new CorpusFolders(corpusRoots(sources));
  const moderator = new Moderator({ judge: pool, normalizer, folders });
  const judged: JudgedSample[] = [];
  const isChosen = new Set(chosen);
  const batches = new Map<Lane, Batch[]>();
  const endAt = performance.now() + MAX_MS;
  let sessions = 0;
  try {
    for (const lane of LANES) {
      const ofLane = itemsOfLane(lane);
      const size = Math.ceil(ofLane.length / BATCHES);
      await outcomesOf(ofLane.slice(0, 1));
      for (let at = 0; at < ofLane.length && performance.now() < endAt; at += size) {
        const batch = ofLane.slice(at, at + size);
        const begunAt = performance.now();
        const outcomes = await outcomesOf(batch);
        const seconds = (performance.now() - begunAt) / 1000;
        batches.set(lane, [...(batches.get(lane) ?? []), { items: batch.length, seconds }]);
        for (const [index, item] of batch.entries()) {
          if (isChosen.has(item)) judged.push({ item, outcome: outcomes[index]! });
        }
      }
    }
  } finally {
    await normalizer.close();
  }
  return { judged, batches };

  function itemsOfLane(lane: Lane): JudgedItem[] {
    const own = chosen.filter((item) => laneOf(item) === lane);
    const more = extra.filter((item) => laneOf(item) === lane && !isChosen.has(item));
    return [...own, ...more.slice(0, Math.max(0, BATCHES - own.length))];
  }

  function outcomesOf(items: readonly JudgedItem[]): Promise<(Outcome | null)[]> {
    const requests = items.map(({ request }) => alone(request));
    return moderator.outcomesOf(requests, {
      judging: config.judging,
      session: `preflight-${sessions++}`,
      signal,
    });
  }
}

/** A turn of a conversation without the turns before it, which are not in the sample. */
function alone(request: ItemRequest): ItemRequest {
  return request.requestType === 'multiturn' ? { ...request, conversation: null } : request;
}

/**
 * How many items of a sample have a stored verdict of these models; null when the run would reuse none, or there is no
 * store yet: none is made.
 */
export async function countReusable(
  items: readonly JudgedItem[],
  config: RunConfig,
  { fingerprints, ...options }: OpenStoreOptions & { readonly fingerprints: readonly string[] },
): Promise<number | null> {
  const { reuse, store: folder } = config;
  if (reuse !== true || folder === undefined || !(await isThere(join(folder, STORE_FILES.marker))))
    return null;
  const store = await openStoreFor(config, options);
  if (store === null) return null;
  try {
    const judging = judgingText(config.judging);
    const by = fingerprints.map((fingerprint) => ({ fingerprint, judging }));
    const isReused = ({ request, contentSha256 }: JudgedItem): boolean =>
      request.requestType !== 'generation' && store.find(contentSha256, by) !== null;
    return items.filter(isReused).length;
  } finally {
    await store.close();
  }
}
