import { chmod, cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { tmpdir } from 'node:os';
import { expect, it, afterAll, beforeAll } from 'vitest';
import type { RunDetail, RunList, RunRow } from '../../../src/dashboard/api/runs.ts';
import { purgeRun } from '../../../src/runs/retention/purge-run.ts';
import { folderWith } from '../../helpers/cli.ts';
import { serveDashboard, type ServedDashboard, startDashboard } from '../../helpers/dashboard.ts';
import { judgedRun, type JudgedRun } from '../../helpers/judged-run.ts';
import { newRun } from '../../record/run-fixture.ts';
import { rawRequest } from '../raw-request.ts';

/** A folder with a finished run over three texts. */
async function finishedRun(): Promise<JudgedRun & { readonly folder: string }> {
  const folder = await folderWith({ 'three.csv': 'text\none\ntwo\nthree\n' });
  return { folder, ...(await judgedRun(folder, join(folder, 'three.csv'), { title: 'three' })) };
}

const listed = async ({ json }: ServedDashboard): Promise<readonly RunRow[]> =>
  (await json<RunList>('/api/runs')).runs;

it('lists many runs, finished or not, and one bad directory is its own problem', async () => {
  const { out, dir } = await finishedRun();
  const run = basename(dir);
  const isLarge = (path: string): boolean =>
    /(?:verdicts|errors|flagged|report|manifest)\.(?!sha256)/.test(path);
  const copy = (name: string): Promise<void> =>
    cp(dir, join(out, name), { recursive: true, filter: (path) => !isLarge(path) });
  const copies = Array.from({ length: 60 }, (_, at) => `copy-${at}`);
  const hostile = ['<img src=x onerror=alert(1)>', 'a\nb\u{202e}c'];
  for (const name of [...copies, ...hostile, '.hidden', 'torn']) await copy(name);
  await cp((await newRun()).dir, join(out, 'begun'), { recursive: true });
  await mkdir(join(out, 'empty'));
  await mkdir(join(out, 'no-json', 'run.json'), { recursive: true });
  await mkdir(join(out, 'not-json'));
  await writeFile(join(out, 'not-json', 'run.json'), '{"schema":1,"run":"<script>"');
  await rm(join(out, 'torn', 'log'), { recursive: true });
  await writeFile(join(out, 'torn', 'log'), 'no folder');
  await symlink(dir, join(out, 'link'));
  await writeFile(join(out, 'file'), '');

  const served = await serveDashboard({ out });
  const rows = new Map((await listed(served)).map((row) => [row.run, row]));
  const others = ['begun', 'torn', 'not-json', hostile[0], 'a\\x0ab\\u{202e}c'];
  expect(new Set(rows.keys())).toEqual(new Set([run, ...copies, ...others]));
  const state = (name: string): unknown[] => [rows.get(name)?.state, rows.get(name)?.problem];
  for (const name of [run, ...copies]) expect(state(name)).toEqual(['finished', null]);
  expect(rows.get(run)).toMatchObject({
    name: 'three',
    not_judged: 0,
    actions: [],
    progress: { planned: 3, plan_closed: true, judged: 3, errors: 0 },
  });
  expect(state('begun')).toEqual(['stopped', 'no feeder: resume the run']);
  expect(state('not-json')).toEqual(['unreadable', 'its run.json cannot be read']);
  for (const name of others.slice(1)) expect(state(name!)[0]).toBe('unreadable');
  expect(served.said).toEqual([]);
});

it('shows a purged run as such, with its counts', async () => {
  const { out, dir } = await finishedRun();
  const served = await serveDashboard({ out });
  const [before] = await listed(served);
  expect(before).toMatchObject({ state: 'finished', problem: null });
  await purgeRun(dir, { by: 'mia', now: new Date('2026-12-24T00:00:00Z') });
  const path = `/api/runs/${basename(dir)}`;
  const detail = await served.json<RunDetail>(path);
  const problem = 'purged on 2026-12-24 by mia; the head and counts are kept';
  const row = { ...before, state: 'purged', problem };
  expect(detail).toMatchObject({ ...row, summary: { items: 3, verdicts: 3, errors: 0 }, command: null });
  expect(await listed(served)).toEqual([row]);
  expect((await served.fetch(`${path}/items/0`)).status).toBe(409);
});

it('no name leads out of the folder', async () => {
  const { folder, out, dir } = await finishedRun();
  const run = basename(dir);
  await symlink(dir, join(out, 'link'));
  await cp(dir, join(folder, 'beside'), { recursive: true });
  const { origin, cookie, pageKey } = await serveDashboard({ out });
  const headers = { cookie, 'x-page-key': pageKey, origin, 'content-type': 'application/json' };
  const names = [
    ...['..', '.', '../beside', '..%2fbeside', '%2e%2e%2fbeside', '..%5cbeside', '%2e%2e'],
    ...['%252e%252e%252fbeside', 'link', '.hidden', '%00', `${run}%00`, `${run}%0a`, '%ff', '%', '__proto__'],
    ...['x'.repeat(255), 'x'.repeat(5000), `${run}%2f`, `${run}%2flog`, '%2fetc', `%2e%2f${run}`],
  ];
  for (const name of names) {
    const shortName = name.slice(0, 40);
    const detail = await rawRequest(origin, ['GET', `/api/runs/${name}`], headers);
    expect(detail.short, shortName).toBe('404 NOT_FOUND');
    const pause = await rawRequest(origin, ['POST', `/api/runs/${name}/actions/pause`], headers, '{}');
    expect(pause.short, shortName).toBe('404 NOT_FOUND');
    // Paths with other parts than the report's are of the pages, which hold no data.
    const report = await rawRequest(origin, ['GET', `/runs/${name}/report.html`], headers);
    expect(report.text, shortName).not.toContain(run.slice(0, 16));
  }
  const report = await rawRequest(origin, ['GET', `/runs/${run}/report.html`], headers);
  expect([report.short, report.text.includes(run)]).toEqual(['200', true]);
});

it('a report is for our own pages, as a page of no origin', async () => {
  const { out, dir } = await finishedRun();
  const served = await serveDashboard({ out });
  const path = `/runs/${basename(dir)}/report.html`;
  expect((await fetch(served.origin + path)).status).toBe(401);
  const response = await served.fetch(path);
  const policy = response.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/frame-ancestors 'self'; sandbox allow-scripts$/);
  const first = await response.text();
  expect(await (await served.fetch(path)).text()).toBe(first);
});

it('shows a run from elsewhere, and reads no content for it', async () => {
  const { folder, out, dir } = await finishedRun();
  const detail = ({ json }: ServedDashboard, run = basename(dir)) => json<RunDetail>(`/api/runs/${run}`);
  const served = await serveDashboard({ out, roots: [folder] });
  expect((await detail(served)).content).toEqual({ readable: true, reason: null });
  const elsewhere = await serveDashboard({ out, roots: [out] });
  expect((await detail(elsewhere)).content.reason).toContain('--root');
  await cp(dir, join(out, 'foreign'), { recursive: true });
  await rm(join(out, 'foreign', 'control', 'seal'));
  const message = 'this run was not created by you on this machine';
  expect((await detail(served, 'foreign')).content).toEqual({ readable: false, reason: message });
});

it('changes nothing in a run that others can write in', async () => {
  const { dir } = await newRun();
  await chmod(dir, 0o777);
  const run = basename(dir);
  const served = await serveDashboard({ out: join(dir, '..') });
  expect((await listed(served))[0]).toMatchObject({ run, state: 'stopped', actions: [] });
  for (const action of ['pause', 'continue', 'cancel']) {
    const response = await served.fetch(`/api/runs/${run}/actions/${action}`, { method: 'POST', body: {} });
    expect([action, response.status]).toEqual([action, 403]);
  }
});

let served: ServedDashboard;
beforeAll(async () => {
  served = await startDashboard({ out: join(tmpdir(), 'guardsweep-no-such-folder'), roots: [tmpdir()] });
});
afterAll(() => served.close());

it('every path of a page gets the page, without a session and without anything from elsewhere', async () => {
  const index = await (await fetch(served.origin)).text();
  for (const path of ['/', '/login', '/runs/20261121T020000Z-nightly-ab12', '/runs/x/items/5']) {
    const response = await fetch(served.origin + path);
    expect([response.status, await response.text()]).toEqual([200, index]);
    const header = (name: string): string | null => response.headers.get(name);
    expect(header('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src blob:; " +
        "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(header('x-content-type-options')).toBe('nosniff');
    expect(header('referrer-policy')).toBe('no-referrer');
    expect(header('cross-origin-opener-policy')).toBe('same-origin');
    expect(header('cache-control')).toBe('no-cache');
  }
});

it('files of the pages are compressed and kept for ever; no other file can be asked for', async () => {
  const index = await (await fetch(served.origin)).text();
  const [script] = /\/assets\/[\w.-]+\.js/.exec(index)!;
  const { origin } = served;
  const plain = await fetch(origin + script, { headers: { 'accept-encoding': 'identity' } });
  expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  const gzipped = await fetch(origin + script, { headers: { 'accept-encoding': 'gzip' } });
  expect(gzipped.headers.get('content-encoding')).toBe('gzip');
  expect(await gzipped.text()).toBe(await plain.text());
  const names = '..%2findex.html ../index.html %00 none.js ..%2f..%2fpackage.json __proto__'.split(' ');
  for (const name of names) {
    const { short } = await rawRequest(origin, ['GET', `/assets/${name}`], {});
    expect(short, name).toMatch(/^40[14]/);
  }
});
