import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Reviews } from '../../../src/dashboard/reviews/reviews.ts';
import type { ItemPage } from '../../../src/dashboard/api/items.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import type { GuardRequest } from '../../../src/domain/request.ts';
import type { CategoryKey } from '../../../src/domain/taxonomy.ts';
import { findRestriction } from '../../../src/domain/restriction/restriction.ts';
import { collectReport } from '../../../src/report/html/collect-report.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { jsonl } from '../../helpers/documents.ts';
import { duckdb } from '../../helpers/duckdb.ts';
import { drawn } from '../../helpers/pictures.ts';
import { openSession } from '../../helpers/dashboard.ts';
import { jsonLines } from '../../helpers/run-directory.ts';
import { askAbout, Asking } from './asking.ts';
import { ALLOWED, flaggedFor, judgedRun, NEVER, RESTRICTED, wordsOf } from '../../helpers/judged-run.ts';

const SECRET = 'RESTRICTED words that nobody may see';

/** Flagged for Sexual Content, by a guard with these scores besides. */
const sexual = (more: object = {}) => ({
  ...flaggedFor('sexual_content'),
  subcategoryScores: { sexual_content: 0.9, ...more },
});

const turns = (...texts: readonly string[]) => ({
  messages: texts.map((content, turn) => ({ role: turn % 2 === 0 ? 'user' : 'assistant', content })),
});

describe('restricted content', () => {
  test('is not shown where it is, nor anywhere else, and is not read', async () => {
    const picture = await drawn(40, 30).png().toBuffer();
    const image_url = { url: `data:image/png;base64,${picture.toString('base64')}` };
    const files = {
      'a.csv': `id,text\n1,${SECRET}\n2,harmless\n`,
      'copy.jsonl': jsonl({ text: SECRET }),
      'pair.jsonl': jsonl({ prompt: 'p', chosen: SECRET, rejected: 'beside it' }),
      'chat.jsonl': jsonl(turns('one', SECRET, 'three')),
      'other-chat.jsonl': jsonl(turns('zero', 'no', SECRET, 'four', 'five')),
      'answer.jsonl': jsonl({ prompt: SECRET, response: 'an answer' }),
      'picture.png': picture,
      'picture.txt': SECRET,
      'same.png': picture,
      'inside.jsonl': jsonl({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url }] }] }),
      'whole.txt': SECRET,
      'z.csv': 'id,text\n1,harmless too\n',
    };
    const { path, run, asking } = await askAbout(files, { source: { audit: 'every-turn' } });
    const shown: string[] = [];
    for (const line of run.lines) {
      const [content, media] = await asking.reasons(line.seq);
      expect(media).not.toBe('media');
      if (content !== 'restricted') shown.push(`${line.source.path}: ${content}`);
    }
    expect(shown).toEqual(['corpus/a.csv: text', 'corpus/z.csv: text']);
    // Of the items that were restricted, and of those that share something with them, nothing is opened.
    await rm(path, { recursive: true });
    for (const line of run.lines.filter((each) => findRestriction(DEFAULT_POLICY, each) !== null)) {
      expect(await asking.reasons(line.seq)).toEqual(['restricted', 'restricted']);
    }
  });

  test('is not shown as a turn of a conversation that was judged as a whole', async () => {
    const { asking } = await askAbout({
      'a.csv': `id,text\n1,${SECRET}\n`,
      'b.jsonl': jsonl(turns('one', SECRET, 'three'), turns('one', 'two', 'three')),
    });
    expect(await asking.content(1)).toMatchObject({ reason: 'restricted' });
    expect(await asking.content(2)).toMatchObject({ kind: 'conversation' });
  });

  test('is what a guard without that probe flags for Sexual Content', async () => {
    const verdictOn = (request: GuardRequest) =>
      sexual(wordsOf(request) === 'known' ? { child_sexual_exploitation: 0.01 } : {});
    const { asking } = await askAbout({ 'a.csv': 'id,text\n1,known\n2,unknown\n' }, { verdictOn });
    expect(await asking.content(0)).toMatchObject({ kind: 'text' });
    expect(await asking.reasons(1)).toEqual(['restricted', 'restricted']);
  });

  test('is, for Sexual Content alone, what the policy blocks', async () => {
    const policy = { ...DEFAULT_POLICY, thresholds: { default: { review: 0.5, block: 0.8 } } };
    const verdictOn = (request: GuardRequest) => {
      const sexual_content = Number(wordsOf(request));
      return sexual_content > 0 ? sexual({ sexual_content }) : { ...sexual(), subcategoryScores: null };
    };
    const files = { 'a.csv': 'id,text\n1,0.53\n2,0.9\n3,none\n' };
    const { run, asking } = await askAbout(files, { policy, verdictOn });
    expect(await asking.content(0)).toMatchObject({ kind: 'text' });
    expect(await asking.content(1)).toMatchObject({ reason: 'restricted' });
    // Without a score, nobody knows what the policy would do.
    expect(await asking.content(2)).toMatchObject({ reason: 'restricted' });
    expect(run.lines.map((line) => findRestriction(policy, line))).toEqual([
      ...[null, 'sexual_content', 'sexual_content'],
    ]);
    const table = join(run.dir, 'verdicts.parquet');
    expect(await duckdb(`SELECT restricted_by FROM '${table}' ORDER BY seq`)).toEqual(
      run.lines.map((line) => ({ restricted_by: findRestriction(policy, line) })),
    );
  });

  describe('that is released', () => {
    const TOKEN = 'the-token-of-those-who-may-release';
    /** A dashboard over a run, and what asks by the right to release. */
    const releasing = async (...given: Parameters<typeof askAbout>) => {
      const asked = await askAbout(given[0], given[1], TOKEN);
      const session = await openSession(asked.asking.served.origin, TOKEN);
      const release = async (seq: number, note = 'a starfish', by = session): Promise<number> => {
        const path = asked.asking.path(seq, 'content').replace(/content$/, 'release');
        return (await by.fetch(path, { method: 'POST', body: { note } })).status;
      };
      return { ...asked, session, release };
    };

    test('is shown from then on, with a note, by who has the right, and every look is logged before', async () => {
      const files = { 'a.csv': 'id,text\n1,starfish\n2,other\n3,starfish\n' };
      const { folder, run, asking, release } = await releasing(files, { verdictOn: () => sexual() });
      expect(await release(0, 'a starfish', asking.served)).toBe(403);
      expect(await release(0, ' ')).toBe(400);
      expect(existsSync(asking.log)).toBe(false);
      expect(await asking.reasons(0)).toEqual(['restricted', 'restricted']);

      expect(await release(0)).toBe(200);
      expect(await asking.content(0)).toMatchObject({ kind: 'text', text: 'starfish' });
      // Its copy is the same content; another item is another.
      expect(await asking.content(2)).toMatchObject({ kind: 'text' });
      expect(await asking.content(1)).toMatchObject({ reason: 'restricted' });
      expect(await release(0)).toBe(409);
      const entries = await jsonLines<object>(join(run.out, '.decisions.jsonl'));
      expect(entries).toMatchObject([{ released: 0, note: 'a starfish', run: run.name }]);
      expect(await jsonLines(asking.log)).toMatchObject([{ seq: 0 }, { seq: 2 }]);
      // After a restart as well.
      const later = await Asking.of(run, folder);
      expect(await later.content(0)).toMatchObject({ kind: 'text' });
      const item = await later.served.json(asking.path(0, 'content').replace(/.content$/, ''));
      expect(item).toMatchObject({ restricted: false, released: { note: 'a starfish' } });
    });

    test('is never what may show children: by its guard, by a person, or by another run', async () => {
      const files = { 'a.csv': `id,text\n1,${SECRET}\n2,found\n3,elsewhere\n` };
      const verdictOn = (request: GuardRequest) => (wordsOf(request) === SECRET ? RESTRICTED : sexual());
      const { folder, path, run, asking, session, release } = await releasing(files, { verdictOn });
      expect(await release(0)).toBe(409);
      for (const seq of [1, 2]) expect(await release(seq)).toBe(200);
      const body = { decision: 'block', categories: ['child_sexual_exploitation'], note: 'a child' };
      const reviews = `/api/runs/${run.name}/items/1/reviews`;
      await session.json(reviews, body);
      await judgedRun(folder, path, { title: 'other', verdictOn: () => RESTRICTED });
      for (const seq of [0, 1, 2]) {
        expect(await asking.reasons(seq)).toEqual(['restricted', 'restricted']);
        expect(await release(seq)).toBe(409);
      }
    });
  });

  test('is what a person found to be', async () => {
    const { folder, run, asking } = await askAbout({ 'a.csv': 'id,text\n1,one\n2,two\n3,one\n' });
    expect(await asking.content(0)).toMatchObject({ kind: 'text' });
    const decide = (categories: CategoryKey[] | null): Promise<unknown> =>
      Reviews.beside(run.dir).add(run.dir, run.lines[0]!, { decision: 'block', categories, note: '' });
    await decide(['child_sexual_exploitation']);
    expect(await asking.reasons(0)).toEqual(['restricted', 'restricted']);
    expect(await asking.reasons(2)).toEqual(['restricted', 'restricted']);
    expect(await asking.content(1)).toMatchObject({ kind: 'text' });
    // Whoever says nothing of categories does not say that it is none.
    await decide(null);
    const later = await Asking.of(run, folder);
    expect(await later.reasons(0)).toEqual(['restricted', 'restricted']);
    await decide(['hate']);
    const corrected = await Asking.of(run, folder);
    expect(await corrected.content(0)).toMatchObject({ kind: 'text' });
  });

  test('is a file whose caption made it so, with every other caption', async () => {
    const picture = await drawn(20, 20).png().toBuffer();
    const manifest = 'path,caption,note\na.png,RESTRICTED,\nb.png,fine,\n,,a note\n';
    const { run, asking } = await askAbout({ 'a.png': picture, 'b.png': picture, 'manifest.csv': manifest });
    for (const name of ['a.png', 'b.png', 'manifest.csv']) {
      const { seq } = run.lines.find(({ source }) => source.path.endsWith(name))!;
      expect(await asking.reasons(seq), name).toEqual(['restricted', 'restricted']);
    }
  });

  test('is what a rule of the policy on the category catches, whatever decided', async () => {
    const thresholds = { default: { block: 0.5 }, child_sexual_exploitation: { review: 0.4 } };
    const { run, asking } = await askAbout(
      { 'a.csv': 'id,text\n1,caught\n2,below\n' },
      {
        policy: { ...DEFAULT_POLICY, thresholds },
        verdictOn: (request) => ({
          score: 0.99,
          flagged: false,
          subcategoryFlags: [],
          subcategoryScores: { child_sexual_exploitation: wordsOf(request) === 'caught' ? 0.4 : 0.39 },
        }),
      },
    );
    expect(run.lines.map(({ decided_by }) => decided_by)).toEqual(['score>=0.5', 'score>=0.5']);
    expect(await asking.reasons(0)).toEqual(['restricted', 'restricted']);
    expect(await asking.content(1)).toMatchObject({ kind: 'text' });
    const { rows } = await asking.served.json<ItemPage>(`/api/runs/${run.name}/items`, {});
    expect(rows.filter(({ restricted }) => restricted).map(({ seq }) => seq)).toEqual([0]);
  });

  test('stays so in every other run of the folder, where another model allowed it or it ended as an error', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'a.csv');
    const long = `${SECRET} ${'x'.repeat(200)}`;
    await writeFile(path, `id,text\n1,${SECRET}\n2,${long}\n3,harmless\n4,found later\n`);
    const allowed = { verdictOn: () => ALLOWED, maxBytes: 100, title: 'before' };
    const before = await judgedRun(folder, path, allowed);
    const first = await Asking.of(before, folder);
    expect(await first.content(0)).toMatchObject({ kind: 'text' });
    const run = await judgedRun(folder, path);
    const later = await judgedRun(folder, path, { ...allowed, title: 'later' });
    expect(later.lines.map(({ status }) => status)).toEqual(['ok', 'error', 'ok', 'ok']);
    // While the first dashboard still has its run open.
    expect(await first.content(0)).toMatchObject({ reason: 'restricted' });
    for (const other of [before, later]) {
      const asking = await Asking.of(other, folder);
      expect(await asking.content(0)).toMatchObject({ reason: 'restricted' });
      expect(await asking.content(1)).toMatchObject({ reason: 'restricted' });
      expect(await asking.content(2)).toMatchObject({ kind: 'text' });
    }
    const body = { decision: 'block', categories: ['child_sexual_exploitation'] };
    const asking = await Asking.of(later, folder);
    expect(await asking.content(3)).toMatchObject({ kind: 'text' });
    const reviews = `/api/runs/${run.name}/items/3/reviews`;
    await asking.served.json(reviews, body);
    expect(await asking.content(3)).toMatchObject({ reason: 'restricted' });
    await rm(run.dir, { recursive: true });
    expect(await asking.content(3)).toMatchObject({ reason: 'restricted' });
    const report = await collectReport(later.dir, NEVER);
    const named = [...report.severe, ...report.slow].map(({ seq }) => seq);
    expect(new Set(named)).toEqual(new Set([2]));
    expect(report.notJudged.flatMap(({ files }) => files)).toEqual([]);
  });
});
