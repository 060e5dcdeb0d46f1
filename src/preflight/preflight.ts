import type { RunConfig } from '../config/run-config.ts';
import { type JudgedItem, LANES, laneOf } from '../domain/item.ts';
import { isMedia, requestBytes } from '../domain/request.ts';
import type { OpenGuards } from '../guard/pool/guard-session.ts';
import { expandSources } from '../ingest/discover/expand.ts';
import type { FrozenSource } from '../ingest/plan/plan-line.ts';
import { inspectSources } from '../ingest/recognise/inspect.ts';
import { FrozenSources } from '../ingest/sources/frozen-sources.ts';
import { expectations } from './expect.ts';
import type { CorpusForecast, Forecast, GuardForecast } from './forecast.ts';
import { failedOf, ItemTally, judgedOf } from './tally.ts';
import { countReusable, type JudgedSample, judgeSample } from './judge-sample.ts';
import { RESAMPLES, Reservoir, seededRandom, shuffled, withBounds } from './statistics.ts';
import { readCorpus, type CorpusReading } from './read-corpus.ts';
import { diskBytes, meanLineBytes, redisBytes } from './sizes.ts';

/** Most bytes that are read of all corpora together, as stored. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Of each corpus at least, in bytes. */
const MIN_CORPUS_BYTES = 256 * 1024;
/** Items of each lane that are timed, also where the sample has fewer. */
const TIMED_PER_LANE = 8;

export interface PreflightOptions {
  /** Connects to the guards; null: nothing is judged. */
  readonly guards: OpenGuards | null;
  /** Most items that are sent to the guards. */
  readonly sample: number;
  readonly seed: number;
  /** Path of this user's key file, see runKeyFile. */
  readonly keyFile: string | null;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Looks into the sources of a run, has a random sample judged, and forecasts the run. Writes nothing. What is read is
 * bounded whatever the sources hold, and so is the memory that it takes. A verdict store is opened if there is one. Rejects with Failure `usage` for sources that a
 * run would not take either, and `service` as the guards do.
 */
export async function preflight(config: RunConfig, options: PreflightOptions): Promise<Forecast> {
  const { guards, sample, seed, keyFile, say, signal } = options;
  const { sources, skipped } = await expandSources(config.sources, signal);
  await inspectSources(sources, config.sources, config.limits.itemBytes, signal);
  const random = seededRandom(seed);
  const maxBytes = Math.max(MIN_CORPUS_BYTES, Math.floor(MAX_BYTES / config.sources.length));
  const frozen = new FrozenSources(sources, config.sources);
  const corpora: Corpus[] = [];
  const ofCorpus = config.sources.map((): FrozenSource[] => []);
  for (const source of sources) ofCorpus[source.corpus]!.push(source);
  const ofLane = new Map(LANES.map((lane) => [lane, new Reservoir<JudgedItem>(TIMED_PER_LANE, random)]));
  for (const [corpus, { given }] of config.sources.entries()) {
    const files = ofCorpus[corpus]!;
    const items = new Reservoir<JudgedItem>(sample, random);
    const take = (item: JudgedItem): void => {
      items.add(item);
      ofLane.get(laneOf(item))!.add(item);
    };
    const reading = await readCorpus(files, { config, frozen, maxBytes, sample: take, random, signal });
    corpora.push({ given, files, reading, items: items.values });
  }
  const predicted = new ItemTally();
  for (const { reading } of corpora) predicted.addScaled(reading.predicted, 1);
  const counts = predicted.counts;
  const toJudge = judgedOf(counts);
  const bytes = bytesOf(sources);
  const chosen = drawn(corpora, sample, random);
  let guard: GuardForecast | null = null;
  let judged: readonly JudgedSample[] = [];
  if (guards !== null) {
    const session = await guards(signal, say);
    try {
      const { pool, died } = session;
      const judging = AbortSignal.any([signal, died]);
      const extra = [...ofLane.values()].flatMap(({ values }) => values);
      const result = await judgeSample({ chosen, extra }, { config, sources, pool, signal: judging });
      const readingSeconds = secondsToRead(corpora, bytes);
      const fingerprints = pool.status().flatMap(({ fingerprint }) => fingerprint ?? []);
      const reusable = await countReusable(
        result.judged.map(({ item }) => item),
        config,
        { keyFile, fingerprints, say, signal },
      );
      const known = { config, pool, predicted: counts, readingSeconds, reusable, random };
      guard = expectations(result, known);
      judged = result.judged;
    } finally {
      await session.close();
    }
  }
  const items = toJudge + failedOf(counts);
  return {
    schema: 1,
    seed,
    sources: corpora.map(forecastOf),
    files: sources.length,
    bytes,
    skipped,
    method: corpora.every(({ reading }) => reading.method === 'counted') ? 'counted' : 'estimated',
    items,
    items_interval: intervalOf(items, corpora),
    to_judge: toJudge,
    predicted: counts,
    guard,
    disk_bytes: diskBytes(config, { items, files: sources.length, lineBytes: meanLineBytes(config, judged) }),
    redis_bytes: redisBytes(config, items, meanBytes(chosen)),
  };
}

/** A corpus and a sample of it. */
interface Corpus {
  readonly given: string;
  readonly files: readonly FrozenSource[];
  readonly reading: CorpusReading;
  readonly items: readonly JudgedItem[];
}

function forecastOf({ given, files, reading }: Corpus): CorpusForecast {
  const { read, layouts, tables, method, predicted } = reading;
  return {
    source: given,
    files: files.length,
    bytes: bytesOf(files),
    read: { files: read.files, bytes: read.bytes },
    layouts,
    tables,
    method,
    predicted: predicted.counts,
  };
}

/** The corpora are read independently of each other, so one resample of each makes one of all. */
function intervalOf(items: number, corpora: readonly Corpus[]): Forecast['items_interval'] {
  const totals = Array.from({ length: RESAMPLES }, (_, at) =>
    corpora.reduce((sum, { reading: { totals } }) => sum + totals[at % totals.length]!, 0),
  );
  const { low, high } = withBounds(items, totals);
  return { low: Math.round(low), high: Math.round(high) };
}

/** A sample of all corpora, of each in proportion to the items that are predicted, in random order. */
function drawn(corpora: readonly Corpus[], size: number, random: () => number): JudgedItem[] {
  const predicted = corpora.map(({ reading }) => judgedOf(reading.predicted.counts));
  const all = predicted.reduce((sum, count) => sum + count, 0);
  const chosen = corpora.flatMap(({ items }, index) => {
    const share = all === 0 ? 0 : Math.ceil((size * predicted[index]!) / all);
    return shuffled(items, random).slice(0, share);
  });
  return shuffled(chosen, random).slice(0, size);
}

function secondsToRead(corpora: readonly Corpus[], bytes: number): number {
  const read = corpora.reduce((sum, { reading }) => sum + reading.read.bytes, 0);
  const seconds = corpora.reduce((sum, { reading }) => sum + reading.read.seconds, 0);
  return read === 0 ? 0 : (bytes / read) * seconds;
}

/** Mean size of what travels with an item, in bytes. */
function meanBytes(items: readonly JudgedItem[]): number {
  if (items.length === 0) return 0;
  const travels = ({ request }: JudgedItem): number =>
    isMedia(request) ? Buffer.byteLength(request.caption ?? '') : requestBytes(request);
  return items.reduce((sum, item) => sum + travels(item), 0) / items.length;
}

function bytesOf(sources: readonly FrozenSource[]): number {
  return sources.reduce((sum, source) => sum + source.bytes, 0);
}
