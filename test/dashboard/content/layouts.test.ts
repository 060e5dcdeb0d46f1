import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentSha256 } from '../../../src/domain/content-hash.ts';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import type { Turn } from '../../../src/domain/request.ts';
import type { ItemContent } from '../../../src/dashboard/api/items.ts';
import { temporaryFolder, writeFiles } from '../../helpers/cli.ts';
import { serveDashboard } from '../../helpers/dashboard.ts';
import { jsonl } from '../../helpers/documents.ts';
import { jsonLines } from '../../helpers/run-directory.ts';
import { judgedRun } from '../../helpers/judged-run.ts';

const CHAT = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: 'HATE, the answer' },
    { role: 'user', content: 'thanks' },
  ],
};

/** By name below the corpus. Other forms of files are read again in test/ingest/reread. */
const FILES: Readonly<Record<string, string>> = {
  'b.tsv': 'id\ttext\n1\tein Täb\n',
  'h.jsonl': jsonl(CHAT, { conversations: [{ from: 'human', value: 'a ShareGPT question' }] }),
  'i.jsonl': jsonl({ prompt: 'why?', response: 'because' }, { prompt: 'p', chosen: 'good', rejected: 'bad' }),
  'j.json': JSON.stringify([{ instruction: 'Add.', input: '1 and 2', output: '3' }]),
  'k.jsonl': jsonl({
    custom_id: 'b',
    method: 'POST',
    url: '/v1/moderations',
    body: { input: ['first', '2nd'] },
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
      const whole = { messages, turns: messages.length, conversation: null };
      return contentSha256({ requestType: 'multiturn', modality: 'text', ...whole });
    }
    default:
      return null;
  }
}

test('the content of an item is what was judged, in every layout, and every answer is logged', async () => {
  const folder = await temporaryFolder();
  const corpus = join(folder, 'corpus');
  await writeFiles(corpus, FILES);
  const run = await judgedRun(folder, corpus, { source: { audit: 'every-turn' } });
  const { json } = await serveDashboard({ out: run.out, roots: [folder] });
  const judged = run.lines.filter(({ content_sha256 }) => content_sha256 !== null);
  expect(judged.length).toBeGreaterThan(12);
  const wrong: unknown[] = [];
  for (const line of judged) {
    const shown = await json<ItemContent>(`/api/runs/${run.name}/items/${line.seq}/content`, {});
    if (hashOf(shown, line) === line.content_sha256) continue;
    wrong.push({ path: line.source.path, row: line.source.row, part: line.part, shown });
  }
  expect(wrong).toEqual([]);
  const reveals = await jsonLines<{ seq: number; kind: string }>(join(run.dir, 'review/reveals.jsonl'));
  expect(reveals.map(({ seq, kind }) => [seq, kind])).toEqual(judged.map(({ seq }) => [seq, 'content']));
  const keys = ['at', 'by', 'check', 'kind', 'prev', 'reviewer', 'run', 'schema', 'seq'];
  expect(Object.keys(reveals[0]!).sort()).toEqual(keys);
});
