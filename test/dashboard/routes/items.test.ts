import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Facets, ItemDetail, ItemPage, ThresholdEffect } from '../../../src/dashboard/api/items.ts';
import type { Review, SavedReviews } from '../../../src/dashboard/api/reviews.ts';
import type { Item } from '../../../src/domain/item.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { openFinishedVerdicts } from '../../../src/analysis/finished-verdicts.ts';
import { readLabels } from '../../../src/analysis/labels/read-labels.ts';
import { replay } from '../../../src/analysis/replay.ts';
import { startRun } from '../../../src/library/start-run.ts';
import { folderWith, temporaryFolder, writeFiles } from '../../helpers/cli.ts';
import { serveDashboard } from '../../helpers/dashboard.ts';
import { promptItem } from '../../helpers/items.ts';
import { judgedRun } from '../../helpers/judged-run.ts';
import { finishedRun, signal } from '../../record/run-fixture.ts';
import { failed, resultOf, verdict } from '../../record/shards.ts';
import { ODD_TEXTS } from '../index/indexed.ts';

/** Items: texts with odd ids, a restricted one (12), an error (13), and a conversation of three turns (14 … 16). */
const RESTRICTED = ODD_TEXTS.length;
const FAILED = RESTRICTED + 1;
const FIRST_TURN = FAILED + 1;

function item(seq: number): Item {
  const turn = seq >= FIRST_TURN ? seq - FIRST_TURN + 1 : null;
  const id = turn === null ? (ODD_TEXTS[seq]?.slice(0, 500) ?? `row ${seq}`) : `chat#${turn}`;
  const made = promptItem(seq, `text ${seq}`);
  const row = turn === null ? made.source.row : FIRST_TURN;
  return { ...made, id, turn, source: { ...made.source, row } };
}

function judged(each: Item): Outcome {
  if (each.seq === FAILED) return failed('TIMEOUT');
  if (each.seq === FIRST_TURN) return verdict(each, { flagged: false });
  if (each.seq !== RESTRICTED) return verdict(each);
  const { judgement } = verdict(each, { flagged: true });
  return { judgement: { ...judgement!, subcategoryFlags: ['child_sexual_exploitation'] }, failure: null };
}

/** The API of a dashboard about one run. */
async function dashboardOver(dir: string, roots?: readonly string[]) {
  const run = basename(dir);
  const server = await serveDashboard({ out: dirname(dir), ...(roots && { roots }) });
  const json = <T>(path: string, body?: unknown) => server.json<T>(`/api/runs/${run}${path}`, body);
  const ask = (path: string, body?: unknown) =>
    server.fetch(`/api/runs/${run}${path}`, body === undefined ? {} : { method: 'POST', body });
  return { server, dir, run, json, ask };
}

/** A server over a new run. */
async function served() {
  const items = Array.from({ length: FIRST_TURN + 3 }, (_, seq) => item(seq));
  const shard = { shard: 0, pass: 1, lane: 'text' as const, items };
  const { dir } = await finishedRun([resultOf(shard, judged)]);
  return dashboardOver(dir);
}

describe('the review list', () => {
  it('has items by severity, their counts, and what thresholds would decide', async () => {
    const { json } = await served();
    const page = await json<ItemPage>('/items', {});
    expect(page).toMatchObject({ total: FIRST_TURN + 3, offset: 0 });
    expect(page.rows[0]).toMatchObject({ decision: 'block', score: 0.93, categories: ['hate'] });
    expect(page.rows.at(-1)).toMatchObject({ seq: FAILED, decision: null, error_code: 'TIMEOUT' });
    const odd = new Map(page.rows.map(({ seq, id }) => [seq, id]));
    for (const [seq, text] of ODD_TEXTS.entries()) expect(odd.get(seq)).toBe(text.slice(0, 500));
    expect(page.rows.find(({ seq }) => seq === RESTRICTED)).toMatchObject({ restricted: true });

    const found = await json<ItemPage>('/items', { filter: { search: "'; drop table" } });
    expect(found.rows.map(({ seq }) => seq)).toEqual([0]);
    const facets = await json<Facets>('/facets', { decisions: ['error'] });
    expect([facets.total, facets.decisions.error, facets.error_codes['TIMEOUT']]).toEqual([1, 1, 1]);

    const none = await json<ThresholdEffect>('/thresholds', { thresholds: {} });
    expect(none.changes).toEqual([]);
    const thresholds = { default: { review: 0, block: null } };
    const all = await json<ThresholdEffect>('/thresholds', { thresholds });
    expect(all.then).toMatchObject({ allow: 0, block: 1 });
    const { score } = await json<{ score: number[] }>('/scores');
    expect(score.reduce((sum, items) => sum + items)).toBe(FIRST_TURN + 2);
  });

  it('refuses queries of another form', async () => {
    const { ask } = await served();
    for (const [path, body] of [
      ['/items', { sort: 'seq; DROP TABLE items' }],
      ['/items', { filter: { corpora: [1] } }],
      ['/items', { limit: 501 }],
      ['/facets', { search: 'x'.repeat(201) }],
      ['/thresholds', { thresholds: { score: { review: 0, block: 1 } } }],
      ['/thresholds', { thresholds: { hate: { review: 2, block: null } } }],
    ] as const) {
      const { status } = await ask(path, body);
      expect([path, body, status]).toEqual([path, body, 400]);
    }
  });

  it('has no run but those of its folder, and no item that is not there', async () => {
    const { server, json, ask } = await served();
    for (const path of ['/api/runs/none/items/0', '/api/runs/..%2f..%2fetc/items/0']) {
      expect((await server.fetch(path)).status).toBe(404);
    }
    await json('/items/0');
    for (const seq of ['999', '-1', '1e3', '0x1', '9'.repeat(16), '%00']) {
      expect((await ask(`/items/${seq}`)).status).toBe(404);
    }
  });

  it('says what the record says of an item, and which turn tipped its conversation', async () => {
    const { json } = await served();
    const last = await json<ItemDetail>(`/items/${FIRST_TURN}`);
    expect(last.line).toMatchObject({ seq: FIRST_TURN, turn: 1, decision: 'allow' });
    expect(last.tipped_by).toEqual({ turn: 2, seq: FIRST_TURN + 1 });
    const restricted = await json<ItemDetail>(`/items/${RESTRICTED}`);
    expect(restricted).toMatchObject({
      restricted: true,
      restricted_by: 'child_sexual_exploitation',
      tipped_by: null,
      reviews: [],
    });
    expect(restricted.decided_by_in_words).toMatch(/\w/);
  });
});

it('shows the snippet of an item on no route that logs no look', async () => {
  const folder = await folderWith({
    'a.txt': 'words that only an analyst may see',
    'policy.yaml': 'thresholds:\n  default: { review: 0 }\n',
  });
  const flags = { includeContent: true, policy: 'policy.yaml', canaries: 'off' };
  const { dir } = await startRun({ cwd: folder, paths: ['a.txt'], guard: 'embedded:', flags });
  expect(await readFile(join(dir, 'verdicts.jsonl'), 'utf8')).toContain('words that only');
  const { server, run, json, ask } = await dashboardOver(dir, [folder]);
  await json('/items/0/reviews', { decision: 'block' });
  for (const path of ['/items/0', '/labels/labels.jsonl', '']) {
    const response = await ask(path);
    expect([path, response.status]).toEqual([path, 200]);
    expect(await response.text()).not.toContain('only an analyst');
  }
  const [task] = await json<object[]>('/labels/label-studio.json', {});
  expect(task).toMatchObject({ data: { text: 'words that only an analyst may see', not_shown: null } });
  expect(await readFile(join(dir, 'review', 'reveals.jsonl'), 'utf8')).toContain('"seq":0');
  expect(await (await ask('/items', {})).text()).not.toContain('only an analyst');
  const report = await (await server.fetch(`/runs/${run}/report.html`)).text();
  expect(report).toContain('a.txt');
  expect(report).not.toContain('only an analyst');
});

it('takes no column from the names of folders', async () => {
  const folder = join(await temporaryFolder(), 'seq=5', 'decided_by=none');
  await writeFiles(folder, { 'a.csv': 'text\none\ntwo\n' });
  const { json } = await dashboardOver((await judgedRun(folder, join(folder, 'a.csv'))).dir);
  const page = await json<ItemPage>('/items', { sort: 'corpus' });
  expect(page.rows.map(({ seq }) => seq)).toEqual([0, 1]);
});

describe('reviews', () => {
  it('are kept beside the run, and exported as labels that replay reads, but for restricted items', async () => {
    const { dir, json, ask } = await served();
    const review = (seq: number, body: object) => json<Review>(`/items/${seq}/reviews`, body);
    const agreed = { current: { agrees: true, carried: false, reopened: false } };
    const note = '</script><script>alert(1)</script>\u0000\ud800';
    const overturned = { seq: 0, current: { agrees: false }, note };
    expect(await review(0, { decision: 'allow', note })).toMatchObject(overturned);
    expect(await review(3, { decision: 'block', categories: ['hate'] })).toMatchObject(agreed);
    expect(await review(RESTRICTED, { decision: 'block', note: 'reported' })).toMatchObject(agreed);
    expect(await review(4, { decision: 'block' })).toMatchObject({ current: { agrees: false } });
    expect(await review(4, { decision: null })).toMatchObject({ decision: null, current: null });

    const { reviews } = await json<ItemDetail>('/items/0');
    expect(reviews).toMatchObject([{ decision: 'allow', by: expect.any(String) as string, note }]);
    const facets = await json<Facets>('/facets', {});
    expect(facets.reviews).toEqual({ open: FIRST_TURN, reopened: 0, agreed: 2, overturned: 1 });

    const labels = await ask('/labels/labels.jsonl');
    expect(labels.headers.get('content-disposition')).toBe('attachment; filename="labels.jsonl"');
    const path = join(dirname(dir), 'labels.jsonl');
    await writeFile(path, await labels.text());
    const finished = await openFinishedVerdicts(dir, signal);
    const result = await replay(finished, {
      policy: finished.record.config.policy,
      wanted: { precision: null, recall: null },
      labels: await readLabels(path),
      out: null,
      signal,
    });
    expect(result.labels).toMatchObject({ labels: 15, unmatched: 0, contradictions: 0, without_verdict: 0 });
    expect(result.labels!.scores[0]).toMatchObject({ score: 'score', labelled: { true: 1, false: 1 } });
  });

  it('are exported as tasks of Label Studio, without the content of a run of somebody else', async () => {
    const { json, ask } = await served();
    for (const decision of ['allow', 'block'])
      await json('/items/3/reviews', { decision, categories: ['hate'], note: 'why' });
    await json('/items/0/reviews', { decision: 'allow' });
    const tasks = await json<object[]>('/labels/label-studio.json', {});
    expect(tasks).toHaveLength(2);
    const chosen = { decision: ['block'], categories: ['hate'] };
    const results = Object.entries(chosen).map(([from_name, choices]) => ({
      from_name,
      to_name: 'item',
      type: 'choices',
      value: { choices },
    }));
    const note = { from_name: 'note', to_name: 'item', type: 'textarea', value: { text: ['why'] } };
    expect(tasks[1]).toMatchObject({
      data: { item: 'corpus.csv row 4', text: '', seq: 3, path: 'corpus.csv', row: 4 },
      predictions: [{ score: 0.93, result: results }],
      annotations: [{ result: [...results, note] }],
    });
    expect(JSON.stringify(tasks)).not.toContain('text 3');
    expect((await ask('/labels/label-studio.json')).status).toBe(404);
  });

  it('are saved for many items at once, but for restricted ones and those reviewed meanwhile', async () => {
    const { json, ask } = await served();
    const post = (items: readonly object[]) => json<SavedReviews>('/reviews', { items, note: 'alike' });
    await json('/items/1/reviews', { decision: 'block' });
    const asked = [0, 1, 3, RESTRICTED].map((seq) => ({ seq, decision: 'allow', after: 0 }));
    const { saved, left } = await post(asked);
    expect(saved).toMatchObject([0, 3].map((seq) => ({ seq, number: 1, decision: 'allow', note: 'alike' })));
    expect(left).toEqual([1, RESTRICTED]);
    // What fails after others were saved ends the answer; asked for again, it is told.
    const unknown = { seq: 999, decision: 'allow', after: 0 };
    const partly = await post([{ seq: 4, decision: 'review', after: 0 }, unknown]);
    expect(partly).toMatchObject({ saved: [{ seq: 4 }], left: [] });
    expect((await ask('/reviews', { items: [unknown] })).status).toBe(404);
    const undone = saved.map(({ seq, number }) => ({ seq, decision: null, after: number }));
    expect((await post(undone)).saved).toMatchObject([{ decision: null }, { decision: null }]);
  });

  it('are refused for what is no item and no decision', async () => {
    const { ask } = await served();
    const post = async (seq: number, body: object) => (await ask(`/items/${seq}/reviews`, body)).status;
    expect(await post(999, { decision: 'allow' })).toBe(404);
    expect(await post(0, { decision: 'delete' })).toBe(400);
    expect(await post(0, { decision: 'allow', note: 'x'.repeat(2001) })).toBe(400);
    expect(await post(0, { decision: 'allow', by: 'somebody else' })).toBe(400);
  });
});
