import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startRestGuard } from '../../helpers/guards/rest-guard.ts';
import { comparable } from '../../helpers/run-directory.ts';
import { sessionWith, site, type Site } from './rescans.ts';

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
    expect(second.summary).toMatchObject({ reused: 0 });
    const third = await scan();
    expect(third.taken).toEqual([]);
    expect(new Set(third.lines.map((line) => line.reused_from))).toEqual(new Set([second.run.record.run]));
  });

  it('with other options judges again, and with another policy decides again', async () => {
    const { folder, scan } = await siteWith('one', 'two');
    await writeFile(join(folder, 'strict.yaml'), 'thresholds: { default: { review: 0, block: 0 } }\n');
    await scan();
    expect((await scan({ longAudio: 'truncate' })).taken).toEqual(['one', 'two']);
    const strict = await scan({ policy: 'strict.yaml' });
    expect(strict.taken).toEqual([]);
    expect(strict.summary).toMatchObject({ reused: 2, by_decision: { block: 2 } });
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

  it('of a guard over REST, which reports no version, judges everything', async () => {
    const rest = await startRestGuard();
    onTestFinished(() => rest.kill());
    const { scan } = await siteWith('one', 'two', 'one');
    const guards = async () => () => sessionWith(rest.address);
    for (const calls of [3, 6]) {
      const { summary } = await scan({}, { guards });
      expect(summary).toMatchObject({ verdicts: 3, reused: 0 });
      expect(rest.seen).toHaveLength(calls);
    }
    // What another guard has judged is not taken for this one's either.
    await scan();
    expect((await scan({}, { guards })).summary).toMatchObject({ reused: 0 });
  });
});
