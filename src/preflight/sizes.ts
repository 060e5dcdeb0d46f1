import type { RunConfig } from '../config/run-config.ts';
import { snippetOf } from '../domain/text/snippet.ts';
import { errorLine, verdictLine } from '../record/outcomes/outcome-line.ts';
import type { JudgedSample } from './judge-sample.ts';

/** Bytes of an outcome line where none was measured; of the rest see docs/fleet.md. */
const LINE_BYTES = 733;
/** Size of a row in verdicts.csv by that of its line in verdicts.jsonl. */
const CSV_SHARE = 185 / 733;
/** Of the plan and the commits, for each shard. */
const SHARD_BYTES = 610;
/** In the lists of sources and in the manifest, for each file. */
const SOURCE_BYTES = 700;

const MAX_SHARDS_IN_REDIS = 256;
const MAX_CONTENT_IN_REDIS = 64 * 1024 * 1024;
const MAX_WAITING_RESULTS = 64;
/** Of an item in a waiting result. */
const RESULT_ITEM_BYTES = 387;
/** What an item takes in Redis besides its content, and what each byte of its content takes. */
const ITEM_OVERHEAD_BYTES = 220;
const CONTENT_FACTOR = 1.2;

/** Mean size of the outcome lines of a sample, in bytes; without a sample, as measured elsewhere. */
export function meanLineBytes({ policy, output }: RunConfig, judged: readonly JudgedSample[]): number {
  if (judged.length === 0) return LINE_BYTES;
  const run = '20260101T000000Z-preflight-0000';
  let sum = 0;
  for (const { item, outcome } of judged) {
    const { judgement, failure } = outcome;
    const line =
      judgement === null
        ? errorLine(run, item, failure)
        : verdictLine(
            run,
            policy,
            item,
            judgement,
            output.includeContent ? snippetOf(item.request, judgement) : null,
          );
    sum += Buffer.byteLength(JSON.stringify(line)) + 1;
  }
  return sum / judged.length;
}

/** What a run takes on disk, in bytes: log and final files are there side by side when it ends. */
export function diskBytes(
  { output, limits }: RunConfig,
  run: { readonly items: number; readonly files: number; readonly lineBytes: number },
): number {
  const csv = output.formats.includes('csv') ? CSV_SHARE : 0;
  const shards = Math.ceil(run.items / limits.shardItems);
  return Math.round(run.items * run.lineBytes * (2 + csv) + shards * SHARD_BYTES + run.files * SOURCE_BYTES);
}

/** Memory that a run takes in a fleet's Redis, in bytes. `itemBytes`: mean size of the content that travels with an item. */
export function redisBytes({ limits }: RunConfig, items: number, itemBytes: number): number {
  if (items === 0) return 0;
  const perShard = Math.max(1, Math.min(limits.shardItems, Math.floor(limits.shardBytes / (itemBytes || 1))));
  const byContent = Math.floor(MAX_CONTENT_IN_REDIS / (perShard * itemBytes || 1));
  const shards = Math.min(MAX_SHARDS_IN_REDIS, Math.ceil(items / perShard), Math.max(1, byContent));
  const shardBytes = perShard * (itemBytes * CONTENT_FACTOR + ITEM_OVERHEAD_BYTES);
  const results = Math.min(MAX_WAITING_RESULTS, shards);
  return Math.round(
    Math.max(shards * shardBytes, (shards - results) * shardBytes + results * perShard * RESULT_ITEM_BYTES),
  );
}
