/**
 * The minimal work of any run: csv-parse, SHA-256, the guard's protocol in requests of 64 rows and the JSON of a full
 * verdict, all of it discarded. A program whose arguments are the CSV file and the guard's address.
 */
import { hash } from 'node:crypto';
import { CATEGORY_KEYS, type CategoryKey } from '../../src/domain/taxonomy.ts';
import { standardOutput } from '../../src/terminal/standard-streams.ts';
import { csvRows } from './csv-rows.ts';
import { TextClient, type TextAnswer } from './text-client.ts';

const ROWS = 64;
const MAX_IN_FLIGHT = 8;

const [path, address] = process.argv.slice(2) as [string, string];
const client = new TextClient(address);
const inFlight = new Set<Promise<void>>();
let batch: (readonly string[])[] = [];
let seq = 0;
let characters = 0;

for await (const rows of csvRows(path)) {
  for (const row of rows) {
    batch.push(row);
    if (batch.length === ROWS) await send();
  }
}
if (batch.length > 0) await send();
await Promise.all(inFlight);
client.close();
standardOutput().line(`${seq} rows, ${characters} characters`);

async function send(): Promise<void> {
  const rows = batch;
  batch = [];
  const from = seq;
  seq += rows.length;
  while (inFlight.size >= MAX_IN_FLIGHT) await Promise.race(inFlight);
  const done = judge(rows, from).finally(() => inFlight.delete(done));
  inFlight.add(done);
}

async function judge(rows: readonly (readonly string[])[], from: number): Promise<void> {
  const hashes = rows.map((row) => hash('sha256', row[1]!));
  const sentAt = performance.now();
  const answers = await client.judge(rows.map((row) => row[1]!));
  const latencyMs = Math.round((performance.now() - sentAt) * 100) / 100;
  const moderatedAt = new Date().toISOString();
  for (const [index, answer] of answers.entries()) {
    const line = verdict(rows[index]![0]!, from + index, hashes[index]!, answer, latencyMs, moderatedAt);
    characters += JSON.stringify(line).length;
  }
}

function verdict(
  id: string,
  seq: number,
  sha256: string,
  answer: TextAnswer,
  latencyMs: number,
  moderatedAt: string,
): object {
  return {
    schema: 1,
    run: '20260101T000000Z-abcdefgh',
    seq,
    id,
    source: {
      path: 'rows.csv',
      row: seq + 1,
      line: seq + 2,
      sha256: null,
      bytes: null,
      offset: null,
      length: null,
    },
    modality: 'text',
    request_type: 'prompt',
    content_sha256: sha256,
    roles: null,
    turn: null,
    part: null,
    coverage: { unit: 'chars', judged: 300, total: 300, worst_at: null },
    status: 'ok',
    score: answer.score,
    flagged: answer.flagged,
    subcategory_scores: answer.flagged ? scoresOf(answer) : null,
    subcategory_flags: answer.flagged
      ? CATEGORY_KEYS.filter((_, index) => answer.categoryFlags[index]!)
      : null,
    decision: answer.flagged ? 'block' : 'allow',
    decided_by: answer.flagged ? 'flagged' : null,
    fingerprint: `sha256:${'0'.repeat(64)}`,
    endpoint: address,
    latency_ms: latencyMs,
    attempts: 1,
    cache_usage: null,
    moderated_at: moderatedAt,
    reused_from: null,
    error: null,
  };
}

function scoresOf({ categoryScores }: TextAnswer): object {
  const scores: Partial<Record<CategoryKey, number>> = {};
  CATEGORY_KEYS.forEach((key, index) => (scores[key] = categoryScores[index]!));
  return scores;
}
