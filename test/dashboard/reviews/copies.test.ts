import { basename, join } from 'node:path';
import { hash } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { expect, it, beforeEach, describe, test } from 'vitest';
import type { ItemDetail, ItemPage } from '../../../src/dashboard/api/items.ts';
import type { Review, SavedReviews, SavedWithCopies } from '../../../src/dashboard/api/reviews.ts';
import { ReviewHistory } from '../../../src/record/reviews/review-history.ts';
import { startRun } from '../../../src/library/start-run.ts';
import { folderWith } from '../../helpers/cli.ts';
import { serveDashboard, type ServedDashboard } from '../../helpers/dashboard.ts';
import { NEVER, type JudgedRun, judgedRun } from '../../helpers/judged-run.ts';
import { outcomes } from '../../helpers/run-directory.ts';
import { syntheticGuard } from '../../helpers/guards/shared-guard.ts';
import { rounds } from '../../helpers/corpus.ts';
import { countReviews } from '../../../src/analysis/reviewed-items.ts';
import { encodeLine } from '../../../src/files/checked-line.ts';
import { readRecord } from '../../../src/record/read-record.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { collectReport } from '../../../src/report/html/collect-report.ts';
import { exported } from '../../report/export/judged-run.ts';

const TEXTS = ['I will kill you', 'two', 'I will kill you', 'three', 'I will kill you', 'two', 'four'];
/** The items that have the content of each. */
const groupOf = (seq: number): number[] =>
  TEXTS.flatMap((text, other) => (text === TEXTS[seq] ? [other] : []));

/** `nights`: runs over the same texts; the last one is served. Later ones have no copies, but verdicts of the first. */
async function served(nights = 1) {
  const rows = TEXTS.map((text, at) => `i${at},${text}\n`).join('');
  const folder = await folderWith({ 'a.csv': `id,text\n${rows}` });
  const out = join(folder, 'runs');
  const { address: guard } = await syntheticGuard();
  let dir = '';
  for (let night = 0; night < nights; night++)
    ({ dir } = await startRun({ paths: [join(folder, 'a.csv')], out, guard, flags: { canaries: 'off' } }));
  const server = await serveDashboard({ out, roots: [folder] });
  const pages = `/api/runs/${basename(dir)}`;
  const json = <T>(path: string, body?: unknown) => server.json<T>(`${pages}${path}`, body);
  return { dir, json, fetch: server.fetch, pages };
}

it.each([1, 2])('one decision is of all items with the content, in night %i', async (nights) => {
  const { json, fetch, pages } = await served(nights);
  expect((await json<ItemDetail>('/items/0')).copies).toBe(2);
  expect((await json<ItemDetail>('/items/3')).copies).toBe(0);
  await json<Review>('/items/4/reviews', { decision: 'block', note: 'a quotation', after: 0 });
  for (const seq of [0, 2, 4]) {
    const { reviews } = await json<ItemDetail>(`/items/${seq}`);
    expect(reviews).toMatchObject([{ seq: 4, decision: 'block', note: 'a quotation' }]);
  }
  const open = await json<ItemPage>('/items', { filter: { review: 'open' } });
  expect(open.rows.map(({ seq }) => seq).sort()).toEqual([1, 3, 5, 6]);
  expect(await json('/reviews')).toMatchObject({ reviewed: 3 });

  // Whoever saw none of this is told.
  const body = { decision: 'block', after: 0 };
  const late = await fetch(`${pages}/items/0/reviews`, { method: 'POST', body });
  expect(late.status).toBe(409);

  const labels = await (await fetch(`${pages}/labels/labels.jsonl`)).text();
  expect(labels.trimEnd().split('\n')).toHaveLength(3);
});

it('a copy that an earlier request decided is no conflict for whoever made it, and is one for others', async () => {
  const { json } = await served();
  const ask = (seq: number, after: number, note = '') =>
    json<SavedReviews>('/reviews', { items: [{ seq, decision: 'block', seen: false, after }], note });
  expect(await ask(0, 0)).toMatchObject({ saved: [{ seq: 0, number: 1 }], left: [] });
  expect(await ask(2, 0)).toMatchObject({ saved: [{ seq: 2, number: 1 }], left: [] });
  expect(await ask(4, 0, 'another opinion')).toMatchObject({ saved: [], left: [4] });
  const one = await json<SavedWithCopies>('/items/4/reviews', { decision: 'allow', after: 1 });
  expect(one).toMatchObject({ seq: 4, number: 2, copies: [0, 2] });
});

it('after any decisions, each copy has the last one made on any of them and not taken back', async () => {
  const { json, dir } = await served();
  const seq = fc.nat({ max: TEXTS.length - 1 });
  const decision = fc.constantFrom('allow', 'review', 'block', null);
  const seqs = fc.uniqueArray(seq, { minLength: 1, maxLength: 5 });
  const step = fc.record({ seqs, decision, one: fc.boolean() });
  const expected = new Map<number, string[]>();
  const counts = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 5 }), async (steps) => {
      for (const { seqs: given, decision: said, one } of steps) {
        const decided = one ? given.slice(0, 1) : given;
        if (one) await json(`/items/${decided[0]}/reviews`, { decision: said });
        else {
          const of = { decision: said, seen: false };
          const items = decided.map((each) => ({ seq: each, ...of, after: counts.get(each) ?? 0 }));
          const { saved, left } = await json<SavedReviews>('/reviews', { items });
          expect(left).toEqual([]);
          expect(saved.map((review) => review.seq)).toEqual(decided);
        }
        const groups = new Set(decided.map((each) => groupOf(each)[0]!));
        for (const copy of [...groups].flatMap(groupOf)) {
          const before = expected.get(copy) ?? [];
          expected.set(copy, said === null ? before.slice(0, -1) : [...before, said]);
          counts.set(copy, (counts.get(copy) ?? 0) + 1);
        }
      }
      const history = await ReviewHistory.read(dir, NEVER);
      for (const line of await outcomes(dir)) {
        expect(history.last(line)?.decision).toBe(expected.get(line.seq)?.at(-1));
        expect(history.of(line)).toHaveLength(counts.get(line.seq) ?? 0);
      }
    }),
    { numRuns: rounds(20) },
  );
});

let folder: string;
let run: JudgedRun;
let decisions: string;

const post = ({ fetch }: ServedDashboard): Promise<Response> =>
  fetch(`/api/runs/${run.name}/items/0/reviews`, { method: 'POST', body: { decision: 'block' } });

/** What everything that reads the decisions says of them. */
async function answers(served: ServedDashboard): Promise<unknown[]> {
  const pages = `/api/runs/${run.name}`;
  const asked = [
    await post(served),
    await served.fetch(`${pages}/items`, { method: 'POST', body: {} }),
    await served.fetch(`${pages}/reviews`),
    await served.fetch(`${pages}/labels/labels.jsonl`),
  ];
  const said = asked.map(async (answer) => {
    const { error } = (await answer.json()) as { error: { message: string } };
    return [answer.status, error.message];
  });
  return Promise.all(said);
}

describe('the decisions of a folder of runs', () => {
  beforeEach(async () => {
    folder = await folderWith({ 'a.csv': 'id,text\n1,one\n2,HATE\n' });
    run = await judgedRun(folder, join(folder, 'a.csv'));
    decisions = join(run.out, '.decisions.jsonl');
  });

  test.each([
    ['changed', (text: string) => text.replace('"note":""', '"note":"x"')],
    ['removed', (text: string) => text.split('\n').slice(1).join('\n')],
    ['of another form', () => `${encodeLine({ seq: 1, prev: hash('sha256', '.decisions.jsonl') })}\n`],
  ])('are named by whatever reads them when a line was %s', async (_, change) => {
    const served = await serveDashboard({ out: run.out, roots: [folder] });
    for (let count = 0; count < 3; count++) expect((await post(served)).status).toBe(200);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
    await writeFile(decisions, change(await readFile(decisions, 'utf8')));
    const named = expect.stringMatching(/^\.decisions\.jsonl /) as string;
    const later = await serveDashboard({ out: run.out, roots: [folder] });
    for (const answer of await answers(later)) expect(answer).toEqual([500, named]);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: false, problem: named });
    await expect(collectReport(run.dir, NEVER)).rejects.toThrow(/^\.decisions\.jsonl/);
    const counted = countReviews({ dir: run.dir, record: await readRecord(run.dir) }, NEVER);
    await expect(counted).rejects.toThrow(/^\.decisions\.jsonl/);
    expect((await exported(folder, run.dir, '--clean', 'clean.csv')).stderr).toContain('.decisions.jsonl');
  });

  test('are neither read nor written through a link, nor where others can write', async () => {
    const served = await serveDashboard({ out: run.out, roots: [folder] });
    expect((await post(served)).status).toBe(200);
    await rename(decisions, join(folder, 'elsewhere'));
    await symlink(join(folder, 'elsewhere'), decisions);
    const before = await readFile(join(folder, 'elsewhere'));
    const refused = expect.stringMatching(/^\.decisions\.jsonl cannot be read/) as string;
    for (const answer of await answers(served)) expect(answer).toEqual([503, refused]);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: false, problem: refused });
    expect(await readFile(join(folder, 'elsewhere'))).toEqual(before);
    await rm(decisions);
    await chmod(join(run.dir, 'review'), 0o777);
    expect((await post(await serveDashboard({ out: run.out, roots: [folder] }))).status).toBe(403);
  });

  test('fail verification where a link has replaced the folder of looks', async () => {
    await mkdir(join(folder, 'elsewhere'));
    await symlink(join(folder, 'elsewhere'), join(run.dir, 'review'));
    const problem = expect.stringMatching(/^review cannot be read/) as string;
    expect(await verifyRun(run.dir)).toMatchObject({ ok: false, problem });
  });
});
