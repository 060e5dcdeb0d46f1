import { readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countReviews, progressText } from '../../../src/analysis/reviewed-items.ts';
import type { Facets, ItemDetail, ItemPage, ItemQuery } from '../../../src/dashboard/api/items.ts';
import type { ReviewProgress, SavedReviews, SavedWithCopies } from '../../../src/dashboard/api/reviews.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { readRecord } from '../../../src/record/read-record.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { collectReport } from '../../../src/report/html/collect-report.ts';
import { sharedFolder } from '../../helpers/cli.ts';
import { serveDashboard, type ServedDashboard, startDashboard } from '../../helpers/dashboard.ts';
import { ALLOWED, flaggedFor, judgedRun, NEVER, RESTRICTED, wordsOf } from '../../helpers/judged-run.ts';
import { jsonLines, outcomes } from '../../helpers/run-directory.ts';
import { exported } from '../../report/export/judged-run.ts';

/** 24 flagged items: one restricted, one that is judged more severely later, two with the same content. */
const HATEFUL = ['HATE same', 'HATE same', ...Array.from({ length: 20 }, (_, at) => `HATE ${at}`)];
const FIRST = ['fine', 'fine, but bad', 'RESTRICTED', 'CHANGES', ...HATEFUL];
const BAD = 1;
const RESTRICTED_SEQ = 2;
const CHANGES = 3;
const SAME = 4;
const ADDED = ['HATE new', 'HATE newer', 'fine again'];
const POLICY = { ...DEFAULT_POLICY, thresholds: { default: { review: 0.4, block: 0.8 } } };

const folder = sharedFolder();
let out: string;
let served: ServedDashboard;

/** A night over these texts; the text CHANGES gets this score. */
async function night(texts: readonly string[], score: number): Promise<string> {
  await writeFile(join(folder, 'a.csv'), `text\n${texts.map((text) => `"${text}"\n`).join('')}`);
  const run = await judgedRun(folder, join(folder, 'a.csv'), {
    title: 'nightly',
    policy: POLICY,
    verdictOn: (request) => {
      const words = wordsOf(request);
      if (words === 'CHANGES') return flaggedFor('hate', score);
      if (words === 'RESTRICTED') return RESTRICTED;
      return words.startsWith('HATE') ? flaggedFor('hate') : ALLOWED;
    },
  });
  ({ out } = run);
  return run.dir;
}

/** Asks a server about a run. */
function server(dir: string, { json }: Pick<ServedDashboard, 'json'> = served) {
  const ask = <T>(path: string, body?: unknown) => json<T>(`/api/runs/${basename(dir)}${path}`, body);
  const list = async (filter: NonNullable<ItemQuery['filter']>): Promise<ItemPage['rows']> =>
    (await ask<ItemPage>('/items', { filter, sort: 'corpus' })).rows;
  return { ask, list };
}

const FLAGGED = ['review', 'block'] as const;

/** What is said of a night at the end of its run, and what its report and its pages count. */
async function counts(dir: string): Promise<[ReviewProgress, string | null]> {
  const record = await readRecord(dir);
  const progress = await countReviews({ dir, record }, NEVER);
  const { summary, reviews } = await collectReport(dir, NEVER);
  expect(reviews).toEqual(progress);
  const { ask } = server(dir);
  expect(await ask('/reviews')).toEqual(progress);
  return [progress, progressText(progress, summary.flagged)];
}

describe('two nights over one folder', () => {
  let first: string;
  let second: string;

  beforeAll(async () => {
    const dir = await night(FIRST, 0.41);
    served = await startDashboard({ out, roots: [folder] });
    // Names of runs tell which came first, to the second.
    first = join(out, '20260101T020000Z-nightly-0000');
    await rename(dir, first);
    const none = { flagged: 0, reviewed: 0, overturned: 0, reopened: 0, fresh: null };
    expect(await counts(first)).toEqual([none, null]);
    const { ask, list } = server(first);
    const rows = await list({ decisions: [...FLAGGED] });
    expect(rows).toHaveLength(24);
    const items = rows
      .filter(({ restricted }) => !restricted)
      .map(({ seq }) => ({ seq, decision: 'allow', seen: true, after: 0 }));
    const { saved, left } = await ask<SavedReviews>('/reviews', { items });
    expect([saved.length, left]).toEqual([23, []]);
    await ask(`/items/${RESTRICTED_SEQ}/reviews`, { decision: 'allow', note: 'not what it seems' });
    await ask(`/items/${BAD}/reviews`, { decision: 'block', note: 'irony' });
    expect(await counts(first)).toMatchObject([
      { flagged: 24, reviewed: 25, overturned: 25, reopened: 0, fresh: null },
      'Flagged: 24 decided, 0 open',
    ]);
    // One line for each content.
    expect(await jsonLines(join(out, '.decisions.jsonl'))).toHaveLength(24);
    second = await night([...FIRST, ...ADDED], 0.93);
  });

  afterAll(() => served.close());

  it('count what is new, seen before and reopened on every surface', async () => {
    expect(await counts(second)).toEqual([
      { flagged: 23, reviewed: 24, overturned: 24, reopened: 1, fresh: 2 },
      'Flagged: 2 new, 24 seen before, 23 decided, 3 open, 1 of them reopened',
    ]);
    const { ask, list } = server(second);
    const facets = await ask<Facets>('/facets', { decisions: FLAGGED });
    const reviewed = { open: 2, reopened: 1, agreed: 0, overturned: 23 };
    expect(facets).toMatchObject({ total: 26, fresh: 2, reviews: reviewed });
    const [a, b, c] = ADDED.map((_, index) => FIRST.length + index);
    expect((await list({ fresh: true })).map(({ seq }) => seq)).toEqual([a, b, c]);
    const open = await list({ decisions: [...FLAGGED], review: 'open' });
    expect(open.map(({ seq }) => seq)).toEqual([CHANGES, a, b]);
    expect(await verifyRun(second)).toMatchObject({ ok: true });
  });

  it('show who decided when, and what has changed since', async () => {
    const { ask, list } = server(second);
    const lines = await outcomes(first);
    const [reopened] = await list({ review: 'reopened' });
    expect(reopened).toMatchObject({
      seq: CHANGES,
      score: 0.93,
      decision: 'block',
      reviews: 1,
      review: { decision: 'allow', score: 0.41, reopened: true, carried: true },
    });
    const { reviews, review } = await ask<ItemDetail>(`/items/${SAME}`);
    const decided = { decision: 'allow', run_decision: 'block', score: 0.9, seen: true };
    expect(reviews).toMatchObject([{ run: lines[0]!.run, seq: SAME, ...decided }]);
    expect(review).toMatchObject({ number: 1, at: reviews[0]!.at, by: reviews[0]!.by, carried: true });
  });

  it('export the second as the first was decided', async () => {
    const { result } = await exported(folder, second, '--clean', 'clean.csv');
    expect(result!.by_reason).toEqual({ restricted: 1, block: 25, reviewed: 1 });
    expect(await readFile(join(folder, 'clean.csv'), 'utf8')).toBe('text\n"fine"\n"fine again"\n');
    await exported(folder, second, '--clean', 'all.csv', '--ignore-reviews');
    expect(await readFile(join(folder, 'all.csv'), 'utf8')).toContain('fine, but bad');
    const labels = await exported(folder, second, '--labels', 'labels.jsonl');
    // Neither what is open again nor what is restricted.
    expect(labels.result).toMatchObject({ reviewed: 23, restricted: 1 });
  });

  it('keep what is restricted, whatever was decided on it', async () => {
    const { list } = server(second);
    const [row] = await list({ seqs: [RESTRICTED_SEQ] });
    expect(row).toMatchObject({ restricted: true, review: { decision: 'allow', carried: true } });
    await exported(folder, second, '--annotate', 'annotated.csv');
    expect(await readFile(join(folder, 'annotated.csv'), 'utf8')).not.toContain('RESTRICTED');
  });

  it('share an undo, after which the decision before it counts again', async () => {
    const { ask } = server(second);
    const decide = (decision: string | null) => ask<SavedWithCopies>(`/items/${SAME}/reviews`, { decision });
    const saved = await decide('block');
    expect(saved).toMatchObject({ number: 2, copies: [SAME + 1], current: { carried: false, agrees: true } });
    const before = server(first, await serveDashboard({ out, roots: [folder] }));
    expect((await before.list({ review: 'agreed' })).map(({ seq }) => seq)).toEqual([SAME, SAME + 1]);
    expect(await decide(null)).toMatchObject({ current: { decision: 'allow', carried: true } });
    expect(await before.list({ review: 'agreed' })).toEqual([]);
    expect(await decide(null)).toMatchObject({ current: null });
    for (const { list } of [before, server(second)])
      expect((await list({ seqs: [SAME, SAME + 1], review: 'open' })).length).toBe(2);
  });

  it('do not open an item again once somebody decided on it as it is judged now', async () => {
    const { ask, list } = server(second);
    await ask(`/items/${CHANGES}/reviews`, { decision: 'allow' });
    expect(await list({ review: 'reopened' })).toEqual([]);
    await ask(`/items/${CHANGES}/reviews`, { decision: null });
    expect(await list({ review: 'reopened' })).toHaveLength(1);
  });
});
