import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Failure } from '../../../src/domain/failure.ts';
import type { RunEvent } from '../../../src/runs/run-events.ts';
import { startRestGuard } from '../../helpers/guards/rest-guard.ts';
import { comparable, onlyRun } from '../../helpers/run-directory.ts';
import { resumed, sessionWith, site, type Site } from './rescans.ts';

const rows = (...texts: readonly string[]): string =>
  `id,text\n${texts.map((text, row) => `r${row},${text}\n`).join('')}`;

async function siteWith(...texts: readonly string[]): Promise<Site> {
  const made = await site();
  await writeFile(join(made.uploads, 'a.csv'), rows(...texts));
  return made;
}

describe('a second run', () => {
  it('judges nothing, and its lines are those of the first but for where the verdicts are from', async () => {
    const { scan } = await siteWith('one', 'two', 'three');
    const first = await scan();
    const second = await scan();
    expect(second.taken).toEqual([]);
    expect(second.summary).toMatchObject({ verdicts: 3, reused: 3, by_decision: first.summary.by_decision });
    expect(second.lines.map((line) => line.reused_from)).toEqual(Array(3).fill(first.run.record.run));
    expect(second.lines.map(({ moderated_at: at, endpoint }) => [at, endpoint])).toEqual(
      first.lines.map(({ moderated_at: at, endpoint }) => [at, endpoint]),
    );
    expect(comparable(second.lines)).toEqual(comparable(first.lines));
  });

  it('judges everything when it is told not to reuse, and leaves its verdicts to a third', async () => {
    const { scan } = await siteWith('one', 'two', 'two');
    await scan();
    const second = await scan({ noReuse: true });
    expect(second.taken).toEqual(['one', 'two', 'two']);
    expect(second.summary).toMatchObject({ reused: 0, copies: 0 });
    const third = await scan();
    expect(third.taken).toEqual([]);
    expect(new Set(third.lines.map((line) => line.reused_from))).toEqual(new Set([second.run.record.run]));
  });

  it('with other options judges again, and with another policy decides again', async () => {
    const { folder, scan } = await siteWith('one', 'two');
    await writeFile(join(folder, 'strict.yaml'), 'thresholds: { default: { review: 0, block: 0 } }\n');
    await scan();
    expect((await scan({ longText: 'error' })).taken).toEqual(['one', 'two']);
    const strict = await scan({ policy: 'strict.yaml' });
    expect(strict.taken).toEqual([]);
    expect(strict.summary).toMatchObject({ reused: 2, by_decision: { block: 2 } });
  });

  it('can share the store with another one at the same time', async () => {
    const { scan } = await siteWith(...Array.from({ length: 600 }, (_, at) => `text ${at}`));
    const both = await Promise.all([scan(), scan()]);
    expect(both.map(({ summary }) => summary.verdicts)).toEqual([600, 600]);
    const third = await scan();
    expect(third.taken).toEqual([]);
    expect(third.said).toEqual([]);
  });

  it('with another store judges again', async () => {
    const { scan } = await siteWith('one');
    await scan();
    expect((await scan({ store: 'elsewhere' })).taken).toEqual(['one']);
    expect((await scan({ store: 'elsewhere', out: 'other' })).taken).toEqual([]);
  });

  it('reuses no verdict of another model than the one that it expects', async () => {
    const { guard, scan } = await siteWith('one');
    await scan();
    const { id } = guard.server.synthetic!.swapVersion();
    await scan();
    const third = await scan({ expectFingerprint: id });
    expect(third.taken).toEqual([]);
    expect(third.lines[0]).toMatchObject({ fingerprint: id });
  });

  it.each([
    ['before the run begins', 0, { reused: 0, models: 1 }],
    ['before its first verdict is looked up', 1, { reused: 0, models: 1 }],
    ['after its verdicts were looked up', 2, { reused: 0, models: 1 }],
    ['after they were confirmed', 3, { reused: 1, models: 2 }],
  ])('of a guard whose model changes %s reuses what the model of that time has judged', async (...given) => {
    const [, when, { reused, models }] = given;
    const { uploads, guard, scan } = await siteWith('one');
    const first = await scan();
    await writeFile(join(uploads, 'a.csv'), rows('one', 'new'));
    const { synthetic } = guard.server;
    const changing = async () => {
      const session = await sessionWith(guard.server.address);
      const { pool } = session;
      let readings = 0;
      const readModels = pool.readModels.bind(pool);
      pool.readModels = async (signal) => {
        if (++readings === when) synthetic!.swapVersion();
        const read = await readModels(signal);
        if (readings === 2 && when === 3) synthetic!.swapVersion();
        return read;
      };
      if (when === 0) synthetic!.swapVersion();
      return session;
    };
    const second = await scan({}, { guards: async () => changing });
    expect(second.summary).toMatchObject({ verdicts: 2, reused });
    expect(new Set(second.lines.map((line) => line.fingerprint)).size).toBe(models);
    expect(second.lines[0]!.fingerprint === first.lines[0]!.fingerprint).toBe(reused === 1);
    expect(second.lines[1]!.fingerprint).toBe(synthetic!.fingerprint.id);
    expect(second.summary.reused_from.map(({ run }) => run)).toEqual(
      reused === 1 ? [first.run.record.run] : [],
    );
  });

  it('of a guard over REST, which reports no version, judges everything but copies', async () => {
    const rest = await startRestGuard();
    onTestFinished(() => rest.kill());
    const { scan } = await siteWith('one', 'two', 'one');
    const guards = async () => () => sessionWith(rest.address);
    for (const calls of [2, 4]) {
      const { summary } = await scan({}, { guards });
      expect(summary).toMatchObject({ verdicts: 3, reused: 0, copies: 1 });
      expect(rest.seen).toHaveLength(calls);
    }
    // What another guard has judged is not taken for this one's either.
    await scan();
    expect((await scan({}, { guards })).summary).toMatchObject({ reused: 0 });
  });

  it('after one broken file was mended costs one guard request', async () => {
    const { uploads, scan } = await siteWith('one', 'two');
    await writeFile(join(uploads, 'b.txt'), Buffer.from([0xff, 0xfe, 0xfd, 0x41, 0xff]));
    expect((await scan()).summary).toMatchObject({ errors: 1 });
    await writeFile(join(uploads, 'b.txt'), 'mended');
    const second = await scan();
    expect(second.taken).toEqual(['mended']);
    expect(second.summary).toMatchObject({ errors: 0, reused: 2 });
  });
});

describe('equal content in one run', () => {
  it('is judged once, and each copy has a line of its own', async () => {
    const { scan } = await siteWith('one', 'two', 'one', 'one', 'two');
    const { lines, taken, summary } = await scan();
    expect(taken).toEqual(['one', 'two']);
    expect(lines.map((line) => line.same_as)).toEqual([null, null, 0, 0, 1]);
    expect(lines.map((line) => line.reused_from)).toEqual(Array(5).fill(null));
    const scores = lines.map((line) => line.score);
    expect(scores).toEqual([0, 1, 0, 0, 1].map((at) => scores[at]));
    expect(summary).toMatchObject({ items: 5, verdicts: 5, copies: 3, reused: 0 });
  });

  it('shares a temporary error, and is judged once by a retry', async () => {
    const { guard, scan } = await siteWith('one', 'bad', 'bad', 'two');
    guard.server.synthetic!.setFaults([{ kind: 'crash', containing: 'bad' }]);
    const first = await scan();
    expect(first.lines.map((line) => [line.error?.code ?? null, line.same_as])).toEqual([
      [null, null],
      ['GUARD_INTERNAL', null],
      ['GUARD_INTERNAL', 1],
      [null, null],
    ]);
    guard.server.synthetic!.setFaults([]);
    const retried = await resumed(first.run.dir, guard, true);
    expect(retried.taken).toEqual(['bad']);
    expect(retried.summary).toMatchObject({ errors: 0, pass: 2 });
    expect(retried.lines[2]).toMatchObject({ status: 'ok', same_as: 1 });
  });
});

describe('a run never reuses itself', () => {
  it('when its record was damaged: what is said to be made again is judged again', async () => {
    const texts = Array.from({ length: 2500 }, (_, at) => `text ${at % 2000}`);
    const { guard, scan } = await siteWith(...texts);
    const { run, summary, lines: before } = await scan();
    expect(summary).toMatchObject({ verdicts: 2500, copies: 500 });
    const ended = before
      .map((line) => line.moderated_at)
      .sort()
      .at(-1)!;
    const log = join(run.dir, 'log');
    const [name] = (await readdir(log)).filter((file) => file.endsWith('commits.jsonl'));
    const committed = (await readFile(join(log, name!), 'utf8')).split('\n');
    const first = committed.findIndex((line) => line.startsWith('{"shard"'));
    committed[first] = committed[first]!.replace('"sha256":"', '"sha256":"0');
    await writeFile(join(log, name!), committed.join('\n'));
    for (const file of ['manifest.json', 'manifest.sha256', 'summary.json']) await rm(join(run.dir, file));
    const mended = await resumed(run.dir, guard);
    expect(mended.summary.lost_to_damage).toBeGreaterThan(0);
    expect(mended.summary).toMatchObject({ verdicts: 2500, reused: 0, reused_from: [] });
    expect(mended.lines.map((line) => line.reused_from)).toEqual(Array(2500).fill(null));
    const made = mended.lines.filter((line) => line.moderated_at > ended && line.same_as === null);
    expect(made.length).toBeGreaterThan(0);
    expect(mended.taken).toHaveLength(made.length);
  });

  it('when it was killed before it noted which item had a content first', async () => {
    const texts = Array.from({ length: 4000 }, (_, at) => `text ${at % 1500}`);
    const { folder, guard, scan } = await siteWith(...texts);
    const stop = new AbortController();
    const killed = scan(
      { format: ['jsonl'] },
      {
        stop: stop.signal,
        report: (event) => {
          if (event.kind !== 'judging') return;
          const look = setInterval(() => {
            if (event.view().planned < 1500) return;
            clearInterval(look);
            stop.abort(new Failure('interrupted', 'interrupted'));
          }, 1);
          onTestFinished(() => clearInterval(look));
        },
      },
    );
    await expect(killed).rejects.toMatchObject({ kind: 'interrupted' });
    const { lines, summary } = await resumed(await onlyRun(join(folder, 'runs')), guard);
    expect(summary).toMatchObject({ verdicts: 4000, reused: 0 });
    expect(lines.map((line) => line.reused_from)).toEqual(Array(4000).fill(null));
  });
});

describe('a folder that is no store', () => {
  it('is refused before anything is written', async () => {
    const { folder, scan } = await siteWith('one');
    await expect(scan({ store: 'uploads' })).rejects.toMatchObject({ kind: 'usage' });
    expect(await readdir(folder)).toEqual(['uploads']);
  });

  it('does not keep a run from being resumed', async () => {
    const { folder, guard, scan } = await siteWith('one', 'one');
    const stop = new AbortController();
    const report = ({ kind }: RunEvent): void => {
      if (kind === 'begun') stop.abort(new Failure('interrupted', 'interrupted'));
    };
    await expect(scan({}, { stop: stop.signal, report })).rejects.toMatchObject({ kind: 'interrupted' });
    await writeFile(join(folder, 'runs', '.store', 'notes.txt'), 'of somebody');
    const { taken, said, summary } = await resumed(await onlyRun(join(folder, 'runs')), guard);
    expect(said.at(-1)).toMatch(/is not a verdict store: .*; the run continues without it$/);
    expect(taken).toEqual(['one', 'one']);
    expect(summary).toMatchObject({ verdicts: 2, copies: 0 });
  });
});
