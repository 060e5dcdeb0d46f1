import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Cli, guardsweep, printedRun, temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { parquetFile } from '../helpers/duckdb.ts';
import { writeMixedCorpus } from '../helpers/mixed-corpus.ts';
import { ObjectStore } from '../helpers/object-store.ts';
import { comparable, jsonLines, killedAt, onlyRun, outcomes } from '../helpers/run-directory.ts';

const TEXT = "CASE WHEN i % 5 = 0 THEN 'I will kill you' ELSE 'a fine day' END AS text";

/** Runs `enqueue` over object storage; returns its run directory and outcomes. */
async function judge(store: ObjectStore, ...sources: readonly string[]) {
  const options = { cwd: await temporaryFolder(), env: store.env };
  const done = await guardsweep(['enqueue', ...sources, '--no-report', '--quiet'], options);
  const run = [0, 5].includes(done.status!) ? printedRun(done) : '';
  return { run, status: done.status, stderr: done.stderr, lines: run === '' ? [] : await outcomes(run) };
}

const results = (lines: readonly OutcomeLine[]): (readonly [string, string])[] =>
  lines.map(({ source, decision, error }) => [source.path, error?.code ?? decision!]);

describe('a run over object storage', () => {
  it('judges objects below a prefix as the same files in a folder', async () => {
    const folder = join(await temporaryFolder(), 'mixed');
    await writeMixedCorpus(folder, 150, 7);
    const store = await ObjectStore.start();
    await parquetFile(join(folder, 'rows.parquet'), `SELECT 'r' || i AS id, ${TEXT} FROM range(50) t(i)`);
    execFileSync('tar', ['-cf', join(folder, 'pack.tar'), '-C', folder, 'rows.parquet', 'manifest.csv']);
    await store.putFolder(folder, 'stored/mixed/');
    store.put('stored/mixed/', '');
    store.put('stored/mixed/.DS_Store', 'x');
    const above = await judge(store, 's3://uploads/stored/mixed');
    const onDisk = await guardsweep(['enqueue', 'mixed', '--no-report', '--quiet'], {
      cwd: join(folder, '..'),
    });
    expect(onDisk.status).toBe(5);
    expect(comparable(above.lines)).toEqual(comparable(await outcomes(printedRun(onDisk))));
    expect(await verifyRun(above.run, {})).toMatchObject({ ok: true });
    const skipped = await jsonLines<{ path: string }>(join(above.run, 'skipped.jsonl'));
    expect(skipped.map(({ path }) => path)).toEqual(['mixed/', 'mixed/.DS_Store']);
  });

  it('lists more objects than a page holds, and keys that look like paths, as names', async () => {
    const store = await ObjectStore.start();
    const hostile = ['../../etc/x.txt', 'a b%20%+.txt', '😀.txt', '<&">.txt', '\\x41.txt', 'ü/./.txt'];
    for (const key of hostile) store.put(`in/${key}`, 'I will kill you');
    for (let at = 0; at < 1100; at++)
      store.put(`in/many/${String(at).padStart(4, '0')}.txt`, `a fine day ${at}`);
    store.put('in-other/z.txt', 'not asked for');
    const { stderr, status, lines } = await judge(store, 's3://uploads/in/');
    expect(lines.filter(({ error }) => error !== null)).toEqual([]);
    expect([status, stderr, lines.length]).toEqual([0, '', 1106]);
    const found = results(lines).filter(([path]) => !path.startsWith('in/many/'));
    const recorded = hostile.map((key) => [`in/${key.replace('\\x41', '\\x5cx41')}`, 'block']);
    expect(found.sort()).toEqual(recorded.sort());
    const glob = await judge(store, 's3://uploads/in/many/000*.txt', 's3://uploads/in/😀.txt');
    expect(results(glob.lines)).toHaveLength(11);
    expect(results(glob.lines).at(-1)).toEqual(['😀.txt', 'block']);
  });

  it('killed and resumed, reads ranges of what was listed, and names what changed', async () => {
    const folder = await temporaryFolder();
    await writeComments(folder, 'a.csv', 12_000);
    const store = await ObjectStore.start({ versions: true });
    await store.putFolder(folder, 'in/');
    for (const name of ['changed', 'deleted', 'kept']) store.put(`in/${name}.txt`, `a fine ${name} day`);
    const out = join(folder, 'runs');
    const cli = new Cli(['enqueue', 's3://uploads/in', '--out', out, '--quiet'], { env: store.env });
    const run = await killedAt(cli, out, 2);
    const [table] = await jsonLines<object>(join(run, 'sources.jsonl'));
    const object = { etag: expect.stringMatching(/^"[0-9a-f]{32}"$/) as string, version: 'v1' };
    expect(table).toMatchObject({ absolute: 's3://uploads/in/a.csv', inode: 0, object });
    store.put('in/changed.txt', 'a fine Changed day');
    store.delete('in/deleted.txt');
    store.requests.length = 0;
    expect(await guardsweep(['resume', run, '--quiet'], { env: store.env })).toMatchObject({ status: 5 });
    const later = store.requests.filter(({ key, range }) => key === 'in/a.csv' && /^bytes=[1-9]/.test(range));
    expect(later.length).toBeGreaterThan(0);
    for (const { ifMatch, version } of later) expect([ifMatch, version]).toEqual([expect.any(String), 'v1']);
    const lines = await outcomes(run);
    expect(results(lines.slice(-3))).toEqual([
      ['in/changed.txt', 'SOURCE_CHANGED'],
      ['in/deleted.txt', 'SOURCE_CHANGED'],
      ['in/kept.txt', 'allow'],
    ]);
    const same = await guardsweep(['enqueue', 'a.csv', '--out', 'disk', '--quiet'], { cwd: folder });
    const contents = (all: readonly OutcomeLine[]): string[] => all.map((line) => line.content_sha256!);
    expect(contents(lines.slice(0, -3))).toEqual(contents(await outcomes(printedRun(same))));
    expect(await verifyRun(run, {})).toMatchObject({ ok: true });
  });

  it('changed while it is read, is not what was listed', async () => {
    const store = await ObjectStore.start();
    store.put('in/a.txt', 'a fine day');
    store.put('in/big.txt', 'a fine day '.repeat(100_000));
    store.fault = ({ range }) => {
      if (range.startsWith('bytes=262144-')) store.put('in/big.txt', 'A fine day '.repeat(100_000));
      return null;
    };
    const { lines } = await judge(store, 's3://uploads/in');
    expect(results(lines)).toEqual([
      ['in/a.txt', 'allow'],
      ['in/big.txt', 'SOURCE_CHANGED'],
    ]);
  });

  it('judges the others beside an object that may not be read, and repeats none of the words of the service', async () => {
    const store = await ObjectStore.start();
    for (const name of ['a', 'denied', 'archived', 'z']) store.put(`in/${name}.txt`, 'a fine day');
    const faults = { 'in/denied.txt': 'AccessDenied', 'in/archived.txt': 'InvalidObjectState' };
    const codes = new Map(Object.entries(faults));
    store.fault = ({ key }) => (codes.has(key) ? { status: 403, code: codes.get(key)! } : null);
    const { run, status, lines, stderr } = await judge(store, 's3://uploads/in');
    expect(status).toBe(5);
    expect(lines.map(({ error }) => error?.message ?? null)).toEqual([
      null,
      'the object is archived: restore it first',
      'access to the object is denied',
      null,
    ]);
    expect(stderr + (await readFile(join(run, 'errors.jsonl'), 'utf8'))).not.toContain('hostile');
  });

  it.each([
    ['a bucket that is not there', 's3://elsewhere/in', null, 4, 'there is no such bucket'],
    ['a prefix without objects', 's3://uploads/none', null, 2, 'no objects in'],
    ['a glob without matches', 's3://uploads/in/*.csv', null, 2, 'nothing matches'],
    ['no name of a bucket', 's3://A/in', null, 2, 'expected s3://bucket/prefix'],
    ['a bucket that may not be listed', 's3://uploads/in', 'AccessDenied', 2, 'cannot be listed'],
    ['expired credentials', 's3://uploads/in', 'ExpiredToken', 4, 'credentials have expired'],
  ])('over %s ends before anything is written', async (_, source, code, expected, message) => {
    const store = await ObjectStore.start();
    store.put('in/a.txt', 'a fine day');
    if (code !== null) store.fault = () => ({ status: 403, code });
    const { status, stderr } = await judge(store, source);
    expect([status, stderr]).toEqual([expected, expect.stringContaining(message)]);
    expect(stderr).not.toContain('hostile');
  });

  it('waits out a service that is busy, ends with 4 when it stays so, and is resumed', async () => {
    const store = await ObjectStore.start();
    for (let at = 0; at < 20; at++) store.put(`in/${at}.txt`, `a fine day ${at}`);
    const busy = { status: 503, code: 'SlowDown' };
    const refused = new Set<string>();
    store.fault = ({ key, method }) => {
      const isFirst = !refused.has(method + key);
      refused.add(method + key);
      return isFirst ? busy : null;
    };
    const calm = await judge(store, 's3://uploads/in');
    expect([calm.status, calm.lines.length]).toEqual([0, 20]);
    let reads = 0;
    // The first is to recognise the file, before the run exists.
    store.fault = ({ key, method }) => (method === 'GET' && key === 'in/5.txt' && ++reads > 1 ? busy : null);
    const out = join(await temporaryFolder(), 'runs');
    const ended = await guardsweep(['enqueue', 's3://uploads/in', '--out', out], { env: store.env });
    expect([ended.status, ended.stderr]).toEqual([4, expect.stringContaining('SlowDown')]);
    store.fault = () => null;
    const run = await onlyRun(out);
    expect(await guardsweep(['resume', run, '--quiet'], { env: store.env })).toMatchObject({ status: 0 });
    expect(comparable(await outcomes(run))).toEqual(comparable(calm.lines));
  });

  it('interrupted while the service does not answer, ends', async () => {
    const store = await ObjectStore.start();
    for (const name of ['a', 'b']) store.put(`in/${name}.txt`, 'a fine day');
    const asked = new Promise<void>((resolve) => {
      store.fault = ({ method, key }) => {
        if (method !== 'GET' || key !== 'in/b.txt') return null;
        resolve();
        return 'hang';
      };
    });
    const out = join(await temporaryFolder(), 'runs');
    const cli = new Cli(['enqueue', 's3://uploads/in', '--out', out, '--quiet'], { env: store.env });
    await asked;
    cli.kill('SIGINT');
    expect(await cli.finished()).toMatchObject({ status: 130, signal: null });
  });
});
