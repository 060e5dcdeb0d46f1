import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ItemCode } from '../../../src/domain/item-error.ts';
import { readEndpoint } from '../../../src/guard/pool/read-endpoint.ts';
import { connect, connected, judge, openAiServer } from '../../helpers/guards/guard-pool.ts';
import { expectOnlyFailure, failure, verdict } from '../../helpers/guards/outcomes.ts';
import { audio, image, prompt, prompts, response } from '../../helpers/guards/requests.ts';
import type { OpenAiScripted, SeenOpenAi } from '../../helpers/guards/openai-server.ts';

const LLAMA = { family: 'llama-guard', model: 'meta-llama/Llama-Guard-3-8B' } as const;
const MODERATIONS = { family: 'moderations', model: 'omni-moderation-latest' } as const;
const POLICY = { sha256: 'a'.repeat(64), text: '# Rules\nHate: no.' };

/** A script for what is judged; harmless texts and canaries are answered as usual. */
const ofItems =
  (script: (request: SeenOpenAi) => OpenAiScripted | Promise<OpenAiScripted>) =>
  (request: SeenOpenAi): OpenAiScripted | Promise<OpenAiScripted> =>
    request.isOwn ? undefined : script(request);

const refusal = (message: string): OpenAiScripted => ({ status: 400, body: { error: { message } } });

const limits = { timeoutMs: 120_000, signal: new AbortController().signal };
const read = (address: string, guardPolicy: typeof POLICY | null = null) =>
  readEndpoint({ name: address, address }, { ...limits, guardPolicy });

describe('a chat model', () => {
  test('is asked without sampling, for alternatives and few tokens, with the key', async () => {
    const { server, pool } = await connected(openAiServer, LLAMA, { token: () => 'secret' });
    const [outcome] = await judge(pool, [prompt('é "quoted"')]);
    const [{ body, headers, content }] = server.seen as [SeenOpenAi];
    expect(content).toBe('é "quoted"');
    expect(headers).toMatchObject({ authorization: 'Bearer secret' });
    expect(body).toMatchObject({ temperature: 0, max_tokens: 100, logprobs: true, top_logprobs: 20 });
    expect(verdict(outcome).fingerprint).toMatch(/^declared:[0-9a-f]{64}$/);
    expect(pool.status()).toMatchObject([{ kind: 'openai', modelVersion: LLAMA.model }]);
  });

  test.each([
    ['5 alternatives, and refuses to give more', 5, 'probability', 5],
    ['none, and refuses to give any', 0, 'binary', undefined],
  ] as const)('gives %s: its scores are declared as such', async (_, alternatives, scores, asked) => {
    const server = await openAiServer({ ...LLAMA, alternatives, isStrict: true, score: () => 0.75 });
    const reading = await read(server.address);
    expect(reading.fingerprint!.artifacts).toMatchObject({ scores });
    const [outcome] = await judge(await connect([server]), [prompt('a')]);
    expect(server.seen[0]!.body.top_logprobs).toBe(asked);
    expect(verdict(outcome)).toMatchObject({ score: scores === 'binary' ? 1 : 0.75, flagged: true });
  });

  test('declares its model, its root, the server and the family; other texts by their hash', async () => {
    const server = await openAiServer({
      family: 'granite-guardian',
      model: 'guard',
      models: [{ id: 'other' }, { id: 'guard', root: 'ibm-granite/granite-guardian-3.3-8b' }],
      answeredBy: () => 'a name <with> markup',
      version: () => '0.11.2',
    });
    const { fingerprint } = await read(server.address);
    expect(fingerprint!.artifacts).toMatchObject({
      'answered-by': expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      family: 'granite-guardian',
      model: 'guard',
      root: 'ibm-granite/granite-guardian-3.3-8b',
      scores: 'probability',
      'server-version': '0.11.2',
    });
    // The family is told from what was loaded, where the served name says nothing.
    const unnamed = server.address.replace(/&family=.*/, '');
    expect((await read(unnamed)).fingerprint!.artifacts).toMatchObject({ family: 'granite-guardian' });
  });

  const tooLarge = 'Request too large for gpt-4o on tokens per min (TPM): Limit 10000, Requested 12000.';
  const turnedAway = (error: object): OpenAiScripted => ({ status: 429, body: { error } });
  test.each<[what: string, reply: OpenAiScripted, code: ItemCode, attempts?: number]>([
    ['a cut answer', { text: 'unsafe\nS1', finish: 'length' }, 'INVALID_REPLY'],
    ['a refusal', { body: { choices: [{ message: { refusal: 'no' } }] } }, 'GUARD_REJECTED'],
    ['an oversized reply', { body: `"${'x'.repeat(2_000_000)}"` }, 'INVALID_REPLY'],
    ['no probabilities', { body: { choices: [{ message: { content: 'safe' } }] } }, 'INVALID_REPLY'],
    ['a short context', refusal("This model's maximum context length is 8192 tokens."), 'SEQUENCE_OVERFLOW'],
    ['more than its limit a minute', turnedAway({ message: tooLarge }), 'ITEM_TOO_LARGE'],
    ['a rate limit', turnedAway({}), 'GUARD_OVERLOADED', 5],
  ])('%s costs one item', async (_, reply, code, attempts) => {
    const script = ofItems(({ content }) => (content === 'text 7' ? reply : undefined));
    const outcomes = await judge(await connect([await openAiServer({ ...LLAMA, script })]), prompts(20));
    expectOnlyFailure(outcomes, 7, code, attempts);
    expect(JSON.stringify(outcomes[7])).not.toContain('xxx');
  });

  test('judges a clip by its transcript, and neither sound nor pictures that it cannot see', async () => {
    const server = await openAiServer(LLAMA);
    const media = [audio('w', 'spoken'), audio('w'), image('i', 'caption')];
    const outcomes = await judge(await connect([server]), media);
    verdict(outcomes[0]);
    const notJudged = { error: { code: 'PROBE_NOT_LOADED' }, attempts: 0 };
    for (const outcome of outcomes.slice(1)) expect(failure(outcome)).toMatchObject(notJudged);
    expect(server.seen.map(({ content }) => content)).toEqual(['spoken']);
  });
});

describe('a model that follows a policy', () => {
  const served = { family: 'policy', model: 'openai/gpt-oss-safeguard-20b' } as const;

  test.each([false, true])('answers in JSON; the server refuses schemas: %s', async (isStrict) => {
    const options = { ...served, isStrict, score: (text: string) => (text === 'a' ? 0.9 : 0.1) };
    const { server, pool } = await connected(openAiServer, options, { guardPolicy: POLICY });
    const outcomes = await judge(pool, [prompt('a'), prompt('b')]);
    expect(outcomes.map(verdict)).toMatchObject([
      { score: 1, flagged: true, subcategoryFlags: ['policy/hate'] },
      { score: 0, flagged: false, subcategoryFlags: null },
    ]);
    expect('response_format' in server.seen[0]!.body).toBe(!isStrict);
    const content = expect.stringMatching(/^# Rules/) as string;
    expect(server.seen[0]!.body.messages![0]).toMatchObject({ role: 'system', content });
  });

  test('declares which policy, and is not used without one', async () => {
    const server = await openAiServer(served);
    const { fingerprint } = await read(server.address, POLICY);
    const declared = { 'policy-sha256': `sha256:${POLICY.sha256}`, scores: 'binary' };
    expect(fingerprint!.artifacts).toMatchObject(declared);
    const other = await read(server.address, { ...POLICY, sha256: 'b'.repeat(64) });
    expect(other.fingerprint!.id).not.toBe(fingerprint!.id);
    await expect(read(server.address)).rejects.toThrow('--guard-policy');
  });
});

describe('the moderation endpoint', () => {
  test('gets texts as lists, and the model only once for each', async () => {
    const server = await openAiServer(MODERATIONS);
    const outcomes = await judge(await connect([server]), prompts(200));
    for (const [index, outcome] of outcomes.entries()) {
      const { score, flagged, subcategoryScores } = verdict(outcome);
      expect(flagged).toBe(score >= 0.5);
      expect(subcategoryScores).toMatchObject({ 'openai/hate': score });
      // It does not apply to texts here.
      expect(subcategoryScores).not.toHaveProperty('openai/violence');
      expect(server.seen.some(({ contents }) => contents.includes(`text ${index}`))).toBe(true);
    }
    expect(Math.max(...server.seen.map(({ contents }) => contents.length))).toBe(32);
    expect(server.seen.length).toBeLessThan(20);
  });

  test('a result too few: the list is judged one by one', async () => {
    const result = { flagged: false, categories: { hate: false }, category_scores: { hate: 0.1 } };
    const script = ofItems(({ contents: { length } }) => {
      return { body: { model: 'm', results: Array(Math.max(1, length - 1)).fill(result) } };
    });
    const server = await openAiServer({ ...MODERATIONS, script, answeredBy: () => 'm' });
    const outcomes = await judge(await connect([server]), prompts(10));
    for (const outcome of outcomes) expect(verdict(outcome)).toMatchObject({ score: 0.1, attempts: 1 });
  });

  test('gets an image with its caption as one input, of a response the response alone', async () => {
    const server = await openAiServer(MODERATIONS);
    const picture = readFileSync('docs/images/report.png');
    await judge(await connect([server]), [image(picture, 'a cat'), response('asked', 'answered')]);
    const inputs = server.seen.map(({ body }) => body.input!);
    const url = expect.stringMatching(/^data:image\/png;base64,/) as string;
    expect(inputs).toContainEqual([
      { type: 'text', text: 'a cat' },
      { type: 'image_url', image_url: { url } },
    ]);
    expect(inputs).toContainEqual(['answered']);
  });
});
