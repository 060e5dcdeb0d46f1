import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { STATUS } from '../../src/gateway/api/errors.ts';
import type { ContractCode } from '../../src/guard-server/contract/request-error.ts';
import { connect, guard, judge, restGuard } from '../helpers/guards/guard-pool.ts';
import { verdict } from '../helpers/guards/outcomes.ts';
import { prompt } from '../helpers/guards/requests.ts';
import type { SeenModeration } from '../helpers/guards/rest-guard.ts';
import { syntheticGuard } from '../helpers/guards/shared-guard.ts';
import { pcmFile } from '../helpers/wav.ts';
import { codeOf, gatewayTo, send, sendFile, sendText, serve } from './serve.ts';

const clip = new Uint8Array(await readFile(new URL('../fixtures/audio/cover.m4a', import.meta.url)));

it('a text gets the verdict of the guard, as the contract has it over REST (C-218, C-401)', async () => {
  const pool = await connect([await guard()]);
  const { origin } = await serve(pool);
  const reply = await sendText(origin, 'text 1');
  const judged = verdict((await judge(pool, [prompt('text 1')]))[0]);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toContain('application/json');
  expect(Object.keys(reply.body as object)).toEqual(['flagged', 'score', 'subcategory_flags', 'latency_ms']);
  expect(reply.body).toMatchObject({ flagged: judged.flagged, score: judged.score });
});

it('a flagged text names the categories that were judged, one that is not names none (C-219)', async () => {
  const violent = { flagged: true, score: 0.9, subcategory_flags: { violent_crimes: true, hate: false } };
  const clean = { flagged: false, score: 0.1, subcategory_flags: {} };
  const script = ({ content }: SeenModeration) => ({
    body: { ...(content.startsWith('bad') ? violent : clean), latency_ms: 1 },
  });
  const origin = await gatewayTo(await restGuard({ script }));
  const bad = await sendText(origin, 'bad');
  expect(bad.body).toMatchObject({ flagged: true, score: 0.9, subcategory_flags: { violent_crimes: true } });
  const good = await sendText(origin, 'good');
  expect(good.body).toMatchObject({ flagged: false, subcategory_flags: {} });
});

it('a clip is brought into normal form, and judged together with its transcript (C-403, C-405, C-407)', async () => {
  const listening = await guard();
  const origin = await gatewayTo(listening);
  expect((await sendFile(origin, 'audio', clip)).status).toBe(200);
  const plain = listening.seen.at(-1)!.inputs;
  expect((await sendFile(origin, 'audio', clip, { text: 'what is said' })).status).toBe(200);
  const described = listening.seen.at(-1)!.inputs;
  const wav = Buffer.from(plain['AUDIO']![0]!, 'base64');
  expect(wav.toString('latin1', 0, 4)).toBe('RIFF');
  expect(plain['TEXT']).toBeUndefined();
  expect(described['TEXT']).toEqual(['what is said']);
  expect(described['AUDIO']).toEqual(plain['AUDIO']);
});

it('says with a header when only a part was judged', async () => {
  const judging = { frames: 1, longAudio: 'truncate', videoInterval: 5, videoFrames: 64 } as const;
  const origin = await gatewayTo(await guard(), { judging });
  const silence = pcmFile(Buffer.alloc(301 * 8000, 0x80), { rate: 8000, bits: 8 });
  const whole = await sendFile(origin, 'audio', clip);
  expect(whole.headers.get('guardsweep-coverage')).toBeNull();
  const long = await sendFile(origin, 'audio', new Uint8Array(silence));
  expect(long.headers.get('guardsweep-coverage')).toBe('300/301 seconds');
});

it('answers with the request id of the client, or one of its own', async () => {
  const origin = await gatewayTo();
  const given = await sendText(origin, 'text', { 'x-request-id': 'job-7:42' });
  expect(given.headers.get('x-request-id')).toBe('job-7:42');
  const odd = await sendText(origin, 'text', { 'x-request-id': 'two words' });
  expect(odd.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
});

it('each failure of the contract keeps its name, has its status, and costs no other request (C-702, C-703, C-706, C-707)', async () => {
  const server = await syntheticGuard();
  const origin = await gatewayTo(server);
  const failures: [code: ContractCode, status: number][] = [
    ['MISSING_PAYLOAD', 422],
    ['INVALID_CONVERSATION', 422],
    ['INVALID_ROLE', 422],
    ['EMPTY_CONTENT', 422],
    ['UNSUPPORTED_AUDIO_TYPE', 415],
    ['SEQUENCE_OVERFLOW', 422],
  ];
  for (const [code, status] of failures) {
    server.synthetic!.setFaults([{ kind: 'refuse', containing: 'zebrafinch', code }]);
    const sent = ['good', 'zebrafinch', 'fine'].map((text) => sendText(origin, text));
    const [good, bad, fine] = await Promise.all(sent);
    expect(codeOf(bad!)).toBe(`${status} ${code}`);
    expect(JSON.stringify(bad!.body)).not.toContain('zebrafinch');
    expect([good!.status, fine!.status]).toEqual([200, 200]);
  }
});

interface Document {
  readonly openapi: string;
  readonly security: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

it('the description has every route, every error code, and schemas that replies follow (C-104, C-404)', async () => {
  const origin = await gatewayTo();
  const document = (await send(`${origin}/openapi.json`)).body as Document;
  expect(document).toMatchObject({ openapi: '3.1.1', security: [{}, { bearer: [] }] });
  for (const [path, operations] of Object.entries(document.paths)) {
    const { headers } = await send(`${origin}${path}`, { method: 'OPTIONS' });
    expect(headers.get('allow')).toContain(Object.keys(operations)[0]!.toUpperCase());
  }
  for (const [code, status] of Object.entries(STATUS)) {
    expect(JSON.stringify(document)).toContain(`${code} ${status}`);
  }
  const ajv = new Ajv2020({ strict: false });
  for (const [name, text] of Object.entries({ Verdict: 'hello', Error: ' ' })) {
    const { body } = await sendText(origin, text);
    expect(ajv.validate(document.components.schemas[name]!, body), ajv.errorsText()).toBe(true);
  }
});

it('a server that needs a token says so', async () => {
  const origin = await gatewayTo(await guard(), { token: 'secret' });
  const headers = { authorization: 'Bearer secret' };
  const document = (await send(`${origin}/openapi.json`, { headers })).body as Document;
  expect(document.security).toEqual([{ bearer: [] }]);
});
