import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentSha256 } from '../../../src/domain/content-hash.ts';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import type { Turn } from '../../../src/domain/request.ts';
import type { ItemContent } from '../../../src/dashboard/api/items.ts';
import { serveDashboard } from '../../helpers/dashboard.ts';
import { duckdb } from '../../helpers/duckdb.ts';
import { jsonLines } from '../../helpers/run-directory.ts';
import { judgedRun, type JudgedRun } from '../../helpers/judged-run.ts';

const jsonl = (...records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');

const CHAT = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: 'HATE, the answer' },
    { role: 'user', content: 'thanks' },
  ],
};

/** By name below the corpus. */
const FILES: Readonly<Record<string, string | Buffer>> = {
  'a.csv': 'id,text\n1,one\n2,"two\nlines, ""quoted"""\n3,"a,b,c"\n',
  'b.tsv': 'id\ttext\n1\tein Täb\n',
  'c.jsonl': jsonl({ text: 'one' }, { text: 'zwei 🙂' }),
  'd.json': JSON.stringify([{ text: 'an element' }, { text: 'another' }]),
  'e.json': JSON.stringify({ data: [{ text: 'in a wrapper' }], note: 'x' }),
  'f.jsonl.gz': gzipSync(jsonl({ text: 'compressed' }, { text: 'also compressed' })),
  'g.csv': Buffer.from('\ufeffid,text\n1,sechzehn Bit ü\n', 'utf16le'),
  'h.jsonl': jsonl(CHAT, { conversations: [{ from: 'human', value: 'a ShareGPT question' }] }),
  'i.jsonl': jsonl({ prompt: 'why?', response: 'because' }, { prompt: 'p', chosen: 'good', rejected: 'bad' }),
  'j.json': JSON.stringify([{ instruction: 'Add.', input: '1 and 2', output: '3' }]),
  'k.jsonl': jsonl({
    ...{ custom_id: 'b', method: 'POST', url: '/v1/moderations' },
    body: { input: ['first', 'second'] },
  }),
  'l.txt': 'a whole file of text\n',
  'm.jsonl': jsonl({ id: 1, comments: [{ text: 'nested one' }, { text: 'nested two' }] }),
};

/** The content hash of what is shown; null for media. */
function hashOf(shown: ItemContent, { request_type }: OutcomeLine): string | null {
  switch (shown.kind) {
    case 'text':
      return contentSha256({ requestType: 'prompt', modality: 'text', text: shown.text });
    case 'pair': {
      const { prompt, response } = shown;
      return contentSha256({ requestType: 'response', modality: 'text', prompt, response });
    }
    case 'conversation': {
      expect(request_type).toBe('multiturn');
      const messages = shown.turns.map(({ role, text }) => [role, text] as unknown as Turn);
      const turns = messages.length;
      return contentSha256({
        requestType: 'multiturn',
        modality: 'text',
        messages,
        turns,
        conversation: null,
      });
    }
    default:
      return null;
  }
}

describe('the content of an item', () => {
  let folder: string;
  let run: JudgedRun;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guardsweep-layouts-'));
    const corpus = join(folder, 'corpus');
    await mkdir(corpus);
    for (const [name, content] of Object.entries(FILES)) await writeFile(join(corpus, name), content);
    await duckdb(`COPY (SELECT 'row ' || range AS text FROM range(5)) TO '${join(corpus, 'n.parquet')}'`);
    run = await judgedRun(folder, corpus, { source: { audit: 'every-turn' } });
  });

  afterAll(() => rm(folder, { recursive: true }));

  test('is what was judged, in every layout, and every answer is logged', async () => {
    const { fetch } = await serveDashboard({ out: run.out, roots: [folder] });
    const judged = run.lines.filter(({ content_sha256 }) => content_sha256 !== null);
    expect(judged.length).toBeGreaterThan(25);
    const wrong: unknown[] = [];
    for (const line of judged) {
      const response = await fetch(`/api/runs/${run.name}/items/${line.seq}/content`, {
        ...{ method: 'POST', body: {} },
      });
      const shown = (await response.json()) as ItemContent;
      if (response.status !== 200 || hashOf(shown, line) !== line.content_sha256) {
        wrong.push({ path: line.source.path, row: line.source.row, part: line.part, shown });
      }
    }
    expect(wrong).toEqual([]);
    const reveals = await jsonLines<{ seq: number; kind: string }>(join(run.dir, 'review/reveals.jsonl'));
    expect(reveals.map(({ seq, kind }) => [seq, kind])).toEqual(judged.map(({ seq }) => [seq, 'content']));
    expect(Object.keys(reveals[0]!).sort()).toEqual(
      ['at', 'by', 'check', 'kind', 'prev', 'reviewer', 'run', 'schema', 'seq'].sort(),
    );
  });

  test('of a turn is the history up to it, with the turn that tipped the conversation', async () => {
    const { fetch } = await serveDashboard({ out: run.out, roots: [folder] });
    const turns = run.lines.filter(
      ({ source, turn }) => source.path.endsWith('h.jsonl') && source.row === 1 && turn,
    );
    const shown: unknown[] = [];
    for (const { seq } of turns) {
      const response = await fetch(`/api/runs/${run.name}/items/${seq}/content`, {
        method: 'POST',
        body: {},
      });
      const content = (await response.json()) as ItemContent;
      if (content.kind !== 'conversation') throw new Error(content.kind);
      const { turns: history, first_turn, tipped_at, cut } = content;
      shown.push([history.length, first_turn, tipped_at, cut]);
    }
    expect(shown).toEqual([
      [2, 1, 2, false],
      [3, 1, 3, false],
      [4, 1, 3, false],
    ]);
  });
});
