import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDashboard, type ServedDashboard } from '../../helpers/dashboard.ts';
import { rawRequest } from '../raw-request.ts';

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
