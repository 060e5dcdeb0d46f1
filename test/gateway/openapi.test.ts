import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it, onTestFinished } from 'vitest';
import { STATUS } from '../../src/gateway/api/errors.ts';
import { closeAfterEach, connect, guard } from '../helpers/guards/guard-pool.ts';
import { send, serve } from './serve.ts';

closeAfterEach();

type Document = Record<string, unknown> & {
  readonly security: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>;
};

it('the description is valid OpenAPI 3.1, with every status and the security scheme', async () => {
  const { origin } = await serve(await connect([await guard()]));
  const document = (await send(`${origin}/openapi.json`)).body as Document;
  const validator = new Validator();
  expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
  expect(document.security).toEqual([{}, { bearer: [] }]);
  const statuses = Object.keys(document.paths['/v1/moderations/audio']!['post']!.responses).map(Number);
  // Where a path or method is unknown, nothing is described.
  const described = new Set(Object.values(STATUS).filter((status) => status !== 404 && status !== 405));
  expect(statuses).toEqual([200, ...described].sort((one, other) => one - other));
});

it('a server that needs a token says so', async () => {
  const { origin } = await serve(await connect([await guard()]), { token: 'secret' });
  const headers = { authorization: 'Bearer secret' };
  const document = (await send(`${origin}/openapi.json`, { headers })).body as Document;
  expect(document.security).toEqual([{ bearer: [] }]);
});

/** What a user of the generated client writes: it compiles only if the description says what these calls need. */
const CALLS = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

export async function calls(baseUrl: string, clip: Blob) {
  const client = createClient<paths>({ baseUrl });
  const text = await client.POST('/v1/moderations/text', { body: { text: 'text' } });
  const verdict: components['schemas']['Verdict'] | undefined = text.data;
  const form = new FormData();
  form.append('file', clip, 'clip.m4a');
  const audio = await client.POST('/v1/moderations/audio', {
    body: { file: '' },
    bodySerializer: () => form,
  });
  const empty = await client.POST('/v1/moderations/text', { body: { text: ' ' } });
  const code: string | undefined = empty.error?.error.code;
  const ready = await client.GET('/readyz');
  return { score: verdict?.score, flagged: audio.data?.flagged, code, status: ready.data?.status };
}
`;

it('a client generated from the description compiles, and works', async () => {
  const { origin } = await serve(await connect([await guard()]));
  // Inside the project, so that the packages are found.
  const cache = resolve(import.meta.dirname, '../../node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'generated-client-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  // By name, so that the compiler of the project itself does not need the packages.
  const [generator, compiler] = ['openapi-typescript', 'typescript/package.json'];
  const { default: generate, astToString } = (await import(generator)) as {
    default: (document: unknown) => Promise<unknown>;
    astToString: (ast: unknown) => string;
  };
  const { body } = await send(`${origin}/openapi.json`);
  await writeFile(join(folder, 'api.d.ts'), astToString(await generate(body)));
  await writeFile(join(folder, 'calls.mts'), CALLS);
  const tsc = join(createRequire(import.meta.url).resolve(compiler), '../bin/tsc');
  const options = [
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--lib',
    'es2023,dom',
    '--strict',
    '--skipLibCheck',
    '--ignoreConfig',
  ];
  execFileSync(process.execPath, [tsc, ...options, join(folder, 'calls.mts')], {
    stdio: 'pipe',
  });
  const { calls } = (await import(pathToFileURL(join(folder, 'calls.mjs')).href)) as {
    calls: (origin: string, clip: Blob) => Promise<unknown>;
  };
  const clip = await readFile(new URL('../fixtures/audio/cover.m4a', import.meta.url));
  expect(await calls(origin, new Blob([new Uint8Array(clip)]))).toEqual({
    score: expect.any(Number) as number,
    flagged: expect.any(Boolean) as boolean,
    code: 'EMPTY_CONTENT',
    status: 'ok',
  });
});
