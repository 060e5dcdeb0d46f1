import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, it, test } from 'vitest';
import { flags, messages, outputs, promptInputs, row } from '../../helpers/guards/guard-client.ts';
import { binaryBody, type HttpReply, outputsOf, replyOf } from '../../helpers/guards/http-infer.ts';
import { sharedGuard } from '../../helpers/guards/shared-guard.ts';

const { server, client: grpc } = await sharedGuard({
  httpPort: 0,
  maxBatchSize: 8,
  synthetic: { contextTokens: 50, maxQueueSize: 2 },
});

afterEach(() => {
  server.synthetic!.resume();
  server.synthetic!.setFaults([]);
});

async function post(body: string | Buffer, headers: Record<string, string> = {}): Promise<HttpReply> {
  const url = `${server.httpAddress!}/v2/models/guard/infer`;
  return replyOf(await fetch(url, { method: 'POST', headers, body }));
}

const judge = (request: object): Promise<HttpReply> => post(JSON.stringify(request));

/** A string input of one column as JSON. */
const strings = (name: string, data: readonly string[]): object => {
  return { name, datatype: 'BYTES', shape: [data.length, 1], data };
};

const textInputs = (...texts: string[]): object[] => {
  return [strings('MODALITY', Array<string>(texts.length).fill('text')), strings('TEXT', texts)];
};

describe('a verdict', () => {
  const texts = Array.from({ length: 8 }, (_, index) => `text "${index}" \u{1f426}`);

  it('is the one over gRPC, whether inputs and outputs are JSON or binary (C-420)', async () => {
    const expected = outputs(await grpc.infer({ tensors: promptInputs(texts) }));
    const { headers, body } = binaryBody(promptInputs(texts), { parameters: { binary_data_output: true } });
    const inBinary = await post(body, headers);
    expect(inBinary.json!.outputs!.every(({ data }) => data === undefined)).toBe(true);
    expect(outputsOf(inBinary)).toEqual(expected);
    const inJson = await judge({ inputs: textInputs(...texts) });
    expect(inJson.json!.outputs!.every(({ parameters }) => parameters === undefined)).toBe(true);
    expect(outputsOf(inJson)).toEqual(expected);
  });

  it('has only the outputs that are asked for, each in its form', async () => {
    const inBinary = (name: string) => ({ name, parameters: { binary_data: true } });
    const asked = [inBinary('CACHE_USAGE'), { name: 'FLAGGED' }, inBinary('SCORE')];
    const reply = await judge({ inputs: textInputs(...texts), outputs: asked });
    expect(reply.headers.get('content-type')).toBe('application/octet-stream');
    expect(reply.json!.outputs!.map(({ name, parameters }) => [name, parameters?.binary_data_size])).toEqual([
      ['SCORE', 32],
      ['FLAGGED', undefined],
      ['CACHE_USAGE', 256],
    ]);
    expect(outputsOf(reply)['SCORE']).toHaveLength(8);
  });

  it('is given on a conversation, nested or flat, with CACHE_WRITE (C-208)', async () => {
    const [question, answer] = [['user', 'hello'] as const, ['assistant', 'hi'] as const];
    const kind = row({ REQUEST_TYPE: 'multiturn' });
    const tensors = [...kind, messages(question, answer), flags('CACHE_WRITE', [false])];
    const expected = outputs(await grpc.infer({ tensors }));
    const turns = [question, answer];
    for (const data of [[turns], turns, turns.flat()]) {
      const inputs = [
        strings('REQUEST_TYPE', ['multiturn']),
        { name: 'MESSAGES', datatype: 'BYTES', shape: [1, 2, 2], data },
        { name: 'CACHE_WRITE', datatype: 'BOOL', shape: [1, 1], data: [false] },
      ];
      expect(outputsOf(await judge({ inputs }))).toEqual(expected);
    }
  });
});

describe('a body', () => {
  const body = JSON.stringify({ inputs: textInputs('hello') });

  test.each([
    ['br', Buffer.from(body), 415, /gzip, deflate or identity/],
    ['gzip', gzipSync(body).subarray(0, 40), 400, /not valid in its Content-Encoding/],
  ])('compressed by %s is refused where it is not', async (encoding, compressed, status, error) => {
    const reply = await post(compressed, { 'content-encoding': encoding });
    expect(reply.status).toBe(status);
    expect(reply.json!.error).toMatch(error);
  });

  it('may be compressed', async () => {
    expect((await post(gzipSync(body), { 'content-encoding': 'gzip' })).status).toBe(200);
  });
});

describe('an error', () => {
  const withText = (change: object) => ({ id: 'q7', inputs: [{ ...strings('TEXT', ['a']), ...change }] });
  const nine = { parameters: { binary_data_size: 9 } };
  const less = withText({ data: undefined, ...nine });
  test.each<[what: string, request: object, error: RegExp]>([
    ['half a row', withText({ shape: [0.5, 1] }), /^\[request id: q7\] .*shape \[0.5,1\]/],
    ['an array', [], /the body: .*expected object/],
    ['numbers in BYTES', withText({ data: [1] }), /not of its data type/],
    ['data nested too deeply', withText({ data: [[[['a']]]] }), /not of its data type/],
    ['data twice', withText(nine), /either data or/],
    ['less binary data', less, /0 bytes follow the JSON, the inputs have 9/],
  ])('is 400 for %s', async (_, request, error) => {
    const { status, json } = await judge(request);
    expect(status).toBe(400);
    expect(json!.error).toMatch(error);
  });

  it('is 500 for a model that raises one, or makes a reply that is none', async () => {
    server.synthetic!.setFaults([{ kind: 'crash' }]);
    const crashed = await judge({ inputs: textInputs('a') });
    expect(crashed.status).toBe(500);
    expect(crashed.json!.error).toMatch(/^Failed to process the request\(s\) for model 'guard'/);
    server.synthetic!.setFaults([{ kind: 'malformed', reply: 'truncated' }]);
    const json = { error: 'the server failed on this request' };
    expect(await judge({ inputs: textInputs('a') })).toMatchObject({ status: 500, json });
  });

  it('is 503 while the server is down or overloaded (C-719)', async () => {
    server.synthetic!.setFaults([{ kind: 'overload' }]);
    const overloaded = await judge({ inputs: textInputs('a') });
    expect(overloaded.status).toBe(503);
    expect(overloaded.json!.error).toMatch(/exceeds maximum queue size/);
    server.synthetic!.setFaults([{ kind: 'down', how: 'not-ready' }]);
    await judge({ inputs: textInputs('a') });
    expect((await judge({ inputs: textInputs('a') })).status).toBe(503);
  });
});

it('any body gets one answer, and the server goes on', async () => {
  const good = binaryBody(promptInputs(['hello']));
  const length = good.headers['inference-header-content-length'];
  const damaged = fc
    .array(fc.tuple(fc.nat(good.body.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 })
    .map((edits) => {
      const bytes = Buffer.from(good.body);
      for (const [at, byte] of edits) bytes[at] = byte;
      return bytes;
    });
  const bodies = fc.oneof(
    damaged,
    fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((bytes) => Buffer.from(bytes)),
  );
  await fc.assert(
    fc.asyncProperty(bodies, fc.constantFrom(length, '7', 'x', undefined), async (body, given) => {
      const headers: Record<string, string> =
        given === undefined ? {} : { 'inference-header-content-length': given };
      const { status, json } = await post(body, headers);
      if (status !== 200)
        expect({ status, keys: Object.keys(json!) }).toEqual({ status: 400, keys: ['error'] });
    }),
    { numRuns: 50 },
  );
  expect((await post(good.body, good.headers)).status).toBe(200);
});
