import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useBrowser } from '../helpers/browser/browser.ts';
import { checkPage } from '../helpers/browser/check-page.ts';

const browser = useBrowser();

const document = (body: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title><main><h1>A page</h1>${body}</main></html>`;

const PAGES: Readonly<Record<string, string>> = {
  '/sound': document('<p>Nothing is wrong.</p>'),
  '/barrier': document('<input>'),
  '/wide': document('<div class="wide">' + 'wide'.repeat(1000) + '</div>'),
  '/inline': document('<script>document.title = "Run"</script>'),
  '/foreign': document('<img alt="" src="http://127.0.0.2:1/x.png">'),
  '/error': document('<script src="/throws.js"></script>'),
};

let server: Server;
let origin: string;

beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    response.setHeader('content-security-policy', "default-src 'self'; img-src *");
    if (url === '/throws.js') {
      response.setHeader('content-type', 'text/javascript').end('throw new Error("on purpose")');
    } else {
      response.setHeader('content-type', 'text/html').end(PAGES[url] ?? '');
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => server.close());

it('finds nothing wrong with a page without faults', async () => {
  const page = await browser.newPage();
  await page.goto(`${origin}/sound`);
  await checkPage(page);
});

it.each([
  ['a control without a label', '/barrier', /^critical: label/],
  ['a page that is too wide', '/wide', /^overflows sideways/],
  ['a script that the policy forbids', '/inline', /violates the CSP: script-src-elem inline/],
  ['a request to another origin', '/foreign', /asked for http:\/\/127\.0\.0\.2:1\/x\.png/],
  ['an error', '/error', /uncaught: on purpose/],
])('finds %s', async (_, path, finding) => {
  const page = await browser.newPage();
  await page.goto(origin + path);
  const faults = expect.arrayContaining([expect.stringMatching(finding)]) as string[];
  await expect(checkPage(page)).rejects.toMatchObject({ actual: faults });
});
