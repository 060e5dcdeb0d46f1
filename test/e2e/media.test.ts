import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import type { Summary } from '../../src/record/summary/summary.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Cli, folderWith, guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { random, seed } from '../helpers/corpus.ts';
import { drawn } from '../helpers/pictures.ts';
import { writeMixedCorpus, type MixedCorpus } from '../helpers/mixed-corpus.ts';
import { committedShards, comparable, onlyRun, outcomes, until } from '../helpers/run-directory.ts';
import { syntheticGuard } from '../helpers/guards/shared-guard.ts';

/** By path below the corpus, and row: what became of an item. */
function told(lines: readonly OutcomeLine[]): Map<string, OutcomeLine> {
  return new Map(
    lines.map((line) => {
      const path = line.source.path.slice(line.source.path.indexOf('/') + 1);
      return [path + (line.source.row === null ? '' : `#${line.source.row}`), line];
    }),
  );
}

function expectAccounted(lines: readonly OutcomeLine[], corpus: MixedCorpus): void {
  expect(lines).toHaveLength(corpus.items);
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, seq) => seq));
  const outcome = told(lines);
  const codes = new Map([...outcome].flatMap(([name, { error }]) => (error ? [[name, error.code]] : [])));
  expect(Object.fromEntries(codes)).toEqual(Object.fromEntries(corpus.poisoned));
  for (const [path, id] of corpus.ids) expect(outcome.get(path)?.id).toBe(id);
}

describe('a folder of 500 files of all kinds, 50 of which cannot be judged', { timeout: 240_000 }, () => {
  it('adds up, and is the same when the run was killed and resumed', async () => {
    const chosen = seed();
    const next = random(chosen);
    const folder = await temporaryFolder();
    const corpus = await writeMixedCorpus(join(folder, 'uploads'), 500, chosen);
    expect(corpus.files).toBeGreaterThanOrEqual(500);
    expect(corpus.poisoned.size).toBeGreaterThanOrEqual(50);
    const { address } = await syntheticGuard();
    const enqueue = ['enqueue', corpus.path, '--guard', address, '--no-report', '--out'];

    const done = await guardsweep([...enqueue, join(folder, 'runs'), '--json']);
    expect([done.status, done.stderr]).toEqual([5, expect.not.stringContaining('Error')]);
    const summary = JSON.parse(done.stdout) as Summary;
    const run = summary.dir;
    const lines = await outcomes(run);
    expectAccounted(lines, corpus);
    expect(summary).toMatchObject({ items: corpus.items, errors: corpus.poisoned.size });
    expect(summary.verdicts + summary.errors).toBe(summary.items);
    expect(summary.unsupported_files).toMatchObject({ doc: 1, '7z': 1 });
    expect(await verifyRun(run, {})).toMatchObject({ ok: true, items: corpus.items });

    const out = join(folder, 'interrupted');
    let cli = new Cli([...enqueue, out, '--quiet']);
    for (let death = 0; death < 3; death++) {
      const already = death === 0 ? 0 : await committedShards(await onlyRun(out));
      const wanted = already + 1 + Math.floor(next() * 3);
      await until(async () => {
        const ended = cli.child.exitCode !== null;
        return ended || (await committedShards(await onlyRun(out))) >= wanted;
      }, `${wanted} shards`);
      cli.kill('SIGKILL');
      await cli.finished();
      if (death < 2) cli = new Cli(['resume', await onlyRun(out), '--quiet']);
    }
    const resumed = await onlyRun(out);
    expect((await guardsweep(['resume', resumed])).status).toBe(5);
    expect(comparable(await outcomes(resumed))).toEqual(comparable(lines));
    expect(await verifyRun(resumed, {})).toMatchObject({ ok: true });
  });
});

describe('images in messages', () => {
  it('are judged beside their conversations, and again by whoever resumes the run', async () => {
    const picture = await drawn(40, 30).png().toBuffer();
    const url = `data:image/png;base64,${picture.toString('base64')}`;
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url } },
    ];
    const records = Array.from({ length: 200 }, (_, id) =>
      JSON.stringify({ id: `c${id}`, messages: [{ role: 'user', content }] }),
    );
    const cwd = await folderWith({ 'chats.jsonl': records.join('\n') });
    const { address } = await syntheticGuard();
    const cli = new Cli(['enqueue', 'chats.jsonl', '--guard', address, '--quiet'], { cwd });
    const run = await until(() => onlyRun(join(cwd, 'runs')), 'a run directory');
    await until(async () => (await committedShards(run)) >= 1, 'a shard');
    cli.kill('SIGKILL');
    await cli.finished();
    expect((await guardsweep(['resume', run])).status).toBe(0);
    const lines = await outcomes(run);
    expect(lines.map(({ id, modality, status }) => [id, modality, status])).toEqual(
      records.flatMap((_, id) => [
        [`c${id}`, 'text', 'ok'],
        [`c${id}#image1`, 'image', 'ok'],
      ]),
    );
    expect(lines[1]).toMatchObject({
      request_type: 'prompt',
      coverage: { unit: 'frames', judged: 1, total: 1 },
    });
    expect(await verifyRun(run, {})).toMatchObject({ ok: true, items: 400 });
  });
});
