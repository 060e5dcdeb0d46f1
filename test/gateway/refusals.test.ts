import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { status } from '@grpc/grpc-js';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { CANARY_PICTURE } from '../../src/domain/canary/built-in.ts';
import { guard } from '../helpers/guards/guard-pool.ts';
import type { ScriptedGuardOptions } from '../helpers/guards/scripted-guard.ts';
import { codeOf, gatewayTo, send, sendFile, sendText } from './serve.ts';

const clip = new Uint8Array(await readFile(new URL('../fixtures/audio/cover.m4a', import.meta.url)));

const JSON_TYPE = { 'content-type': 'application/json' };
const nested = `{"text":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;

it('bodies that are no text are refused, each in its way (C-701, C-704)', async () => {
  const origin = await gatewayTo();
  const bodies: [body: string | Uint8Array<ArrayBuffer>, expected: string][] = [
    ['', '422 MISSING_PAYLOAD'],
    ['{}', '422 MISSING_PAYLOAD'],
    ['{"input":"x"}', '422 MISSING_PAYLOAD'],
    ['{"text":""}', '422 EMPTY_CONTENT'],
    ['{"text":" \\n\\t"}', '422 EMPTY_CONTENT'],
    ['{"text":', '400 INVALID_REQUEST'],
    ['not json', '400 INVALID_REQUEST'],
    ['null', '400 INVALID_REQUEST'],
    ['"text"', '400 INVALID_REQUEST'],
    ['["text"]', '400 INVALID_REQUEST'],
    ['{"text":5}', '400 INVALID_REQUEST'],
    ['{"text":null}', '400 INVALID_REQUEST'],
    ['{"text":["x"]}', '400 INVALID_REQUEST'],
    ['{"text":"x","model":"y"}', '400 INVALID_REQUEST'],
    ['{"text":"x","text":"y"}', '400 INVALID_REQUEST'],
    ['{"text":"x","__proto__":{"text":"y"}}', '400 INVALID_REQUEST'],
    ['{"__proto__":{"text":"y"}}', '422 MISSING_PAYLOAD'],
    ['{"constructor":{"prototype":{"text":"y"}}}', '422 MISSING_PAYLOAD'],
    [nested, '400 INVALID_REQUEST'],
    [new Uint8Array(Buffer.from('{"text":"\xff\xfe"}', 'latin1')), '400 INVALID_ENCODING'],
  ];
  for (const [body, expected] of bodies) {
    const reply = await send(`${origin}/v1/moderations/text`, { method: 'POST', headers: JSON_TYPE, body });
    expect(codeOf(reply), typeof body === 'string' ? body.slice(0, 60) : 'bytes').toBe(expected);
  }
  expect((await sendText(origin, 'text')).status).toBe(200);
});

it('types that a path does not take are 415, compressed bodies too', async () => {
  const origin = await gatewayTo();
  const text = `${origin}/v1/moderations/text`;
  const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense'];
  for (const type of types) {
    const reply = await send(text, { method: 'POST', headers: { 'content-type': type }, body: '{}' });
    expect(codeOf(reply), type).toBe('415 UNSUPPORTED_TYPE');
  }
  const body = new FormData();
  body.append('text', 'x');
  expect(codeOf(await send(text, { method: 'POST', body }))).toBe('415 UNSUPPORTED_TYPE');
  const image = `${origin}/v1/moderations/image`;
  const json = { method: 'POST', headers: JSON_TYPE, body: '{"text":"x"}' };
  expect(codeOf(await send(image, json))).toBe('415 UNSUPPORTED_TYPE');
  const gzip = { ...JSON_TYPE, 'content-encoding': 'gzip' };
  expect(codeOf(await send(text, { ...json, headers: gzip }))).toBe('415 UNSUPPORTED_TYPE');
});

it('forms that are not one file and perhaps one text are refused (C-701)', async () => {
  const origin = await gatewayTo();
  const file = new File([clip], 'a.m4a');
  type Field = readonly [name: string, value: string | File];
  const clipField: Field = ['file', file];
  const names = (fields: readonly Field[]) => String(fields.map(([name]) => name)).slice(0, 60);
  const forms: [fields: readonly Field[], expected: string][] = [
    [[], '422 MISSING_PAYLOAD'],
    [[['text', 'x']], '422 MISSING_PAYLOAD'],
    [[['file', 'no file']], '400 INVALID_REQUEST'],
    [[['upload', file]], '400 INVALID_REQUEST'],
    [[['text', file]], '400 INVALID_REQUEST'],
    [[['__proto__', 'x']], '400 INVALID_REQUEST'],
    [[['constructor', file]], '400 INVALID_REQUEST'],
    [[clipField, clipField], '400 INVALID_REQUEST'],
    [[clipField, ['text', 'x'], ['text', 'y']], '400 INVALID_REQUEST'],
    [[clipField, ['caption', 'x']], '400 INVALID_REQUEST'],
    [new Array<Field>(1000).fill(['file', new File(['x'], 'a.m4a')]), '400 INVALID_REQUEST'],
    [[['text', 'x'.repeat(70_000)], clipField], '413 ITEM_TOO_LARGE'],
  ];
  for (const [fields, expected] of forms) {
    const body = new FormData();
    for (const [name, value] of fields) body.append(name, value);
    const reply = await send(`${origin}/v1/moderations/audio`, { method: 'POST', body });
    expect(codeOf(reply), names(fields)).toBe(expected);
  }
});

it('forms that break the rules of multipart are refused', async () => {
  const origin = await gatewayTo();
  const part = 'Content-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nx\r\n';
  const forms: [type: string, body: string][] = [
    ['multipart/form-data', `--b\r\n${part}--b--\r\n`],
    ['multipart/form-data; boundary=', `--b\r\n${part}--b--\r\n`],
    [`multipart/form-data; boundary=${'b'.repeat(5000)}`, 'x'],
    ['multipart/form-data; boundary=b', `--b\r\n${part}`],
    ['multipart/form-data; boundary=b', `--b\r\n${'X-Header: y\r\n'.repeat(10_000)}\r\nx\r\n--b--\r\n`],
    ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n'],
    ['multipart/form-data; boundary=b', `--c\r\n${part}--c--\r\n`],
    ['multipart/form-data; boundary=b', '\0'.repeat(10_000)],
  ];
  for (const [type, body] of forms) {
    const headers = { 'content-type': type };
    const reply = await send(`${origin}/v1/moderations/audio`, { method: 'POST', headers, body });
    const sent = `${type.slice(0, 50)} ${body.slice(0, 50)}`;
    expect(codeOf(reply), sent).toMatch(/^4\d\d (INVALID_REQUEST|MISSING)/);
  }
  expect((await sendFile(origin, 'audio', clip)).status).toBe(200);
});

it('files that are none are named by what is wrong with them (C-705)', async () => {
  const origin = await gatewayTo();
  const bytes = (text: string) => new Uint8Array(Buffer.from(text));
  expect(codeOf(await sendFile(origin, 'audio', bytes('')))).toBe('422 EMPTY_CONTENT');
  expect(codeOf(await sendFile(origin, 'audio', bytes('#!/bin/sh')))).toBe('415 UNSUPPORTED_AUDIO_TYPE');
  expect(codeOf(await sendFile(origin, 'audio', clip.slice(0, 2000)))).toBe('422 CORRUPT_MEDIA');
});

it('a file name is never used, whatever it is', async () => {
  const origin = await gatewayTo();
  for (const name of ['../../../etc/passwd', '/etc/passwd', 'a\0b.wav', '..\\..\\x', '"; rm -rf /']) {
    const body = new FormData();
    body.append('file', new Blob([clip]), name);
    const reply = await send(`${origin}/v1/moderations/audio`, { method: 'POST', body });
    expect(reply.status, name).toBe(200);
  }
});

it('unknown paths are 404, other methods 405 with those that are allowed (C-718, C-901)', async () => {
  const origin = await gatewayTo();
  const paths = '/ /v1 /v1/moderations /v1/moderations/video /v1/moderations/text/ /%2e%2e/x'.split(' ');
  for (const path of paths) {
    expect(codeOf(await send(`${origin}${path}`, { method: 'POST' })), path).toBe('404 NOT_FOUND');
  }
  const read = await send(`${origin}/v1/moderations/text`);
  expect(codeOf(read)).toBe('405 METHOD_NOT_ALLOWED');
  expect(read.headers.get('allow')).toBe('POST, OPTIONS');
  const written = await send(`${origin}/healthz?x=1`, { method: 'DELETE' });
  expect(codeOf(written)).toBe('405 METHOD_NOT_ALLOWED');
  expect(written.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  const options = await send(`${origin}/v1/moderations/image`, { method: 'OPTIONS' });
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'POST, OPTIONS']);
  expect((await send(`${origin}/healthz`, { method: 'HEAD' })).status).toBe(200);
});

it('a token, where there is one, is needed for everything (C-501)', async () => {
  const origin = await gatewayTo(await guard(), { token: 'secret' });
  expect(codeOf(await sendText(origin, 'text'))).toBe('401 UNAUTHORIZED');
  expect(codeOf(await sendText(origin, 'text', { authorization: 'Bearer other' }))).toBe('401 UNAUTHORIZED');
  expect(codeOf(await send(`${origin}/healthz`))).toBe('401 UNAUTHORIZED');
  expect((await sendText(origin, 'text', { authorization: 'Bearer secret' })).status).toBe(200);
  const stream = new WebSocket(`${origin.replace('http', 'ws')}/v1/moderations/response-stream`);
  const [, reply] = (await once(stream, 'unexpected-response')) as [unknown, IncomingMessage];
  expect(reply.statusCode).toBe(401);
  stream.on('error', () => {}).terminate();
});

it('a file that is too large is refused by its declared size (C-812)', async () => {
  const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': 300 * 1024 * 1024 };
  const sent = httpRequest(`${await gatewayTo()}/v1/moderations/image`, { method: 'POST', headers });
  onTestFinished(() => void sent.destroy());
  sent.flushHeaders();
  const [reply] = (await once(sent, 'response')) as [IncomingMessage];
  expect(reply.statusCode).toBe(413);
});

it('a text that is too large is refused, with and without a declared size (C-812)', async () => {
  const origin = await gatewayTo();
  const body = `{"text":"${'x'.repeat(16 * 1024 * 1024)}"}`;
  const declared = { method: 'POST', headers: JSON_TYPE, body };
  expect(codeOf(await send(`${origin}/v1/moderations/text`, declared))).toBe('413 ITEM_TOO_LARGE');
  const stream = { ...declared, body: new Blob([body]).stream(), duplex: 'half' } as const;
  expect(codeOf(await send(`${origin}/v1/moderations/text`, stream))).toBe('413 ITEM_TOO_LARGE');
  expect((await sendText(origin, 'text')).status).toBe(200);
});

it('a picture sent as a clip is 415, also where no guard judges clips', async () => {
  const script: ScriptedGuardOptions['script'] = ({ inputs }) =>
    'AUDIO' in inputs ? { code: status.FAILED_PRECONDITION, details: 'PROBE_NOT_LOADED: audio' } : undefined;
  for (const server of [await guard(), await guard({ script })]) {
    const reply = await sendFile(await gatewayTo(server), 'audio', new Uint8Array(CANARY_PICTURE));
    expect(codeOf(reply)).toBe('415 UNSUPPORTED_AUDIO_TYPE');
  }
});
