import { expect, test } from 'vitest';
import { scoreOf } from '../helpers/guards/fake-contract.ts';
import { connect, expectToOutlast, judge, refusalOf, restGuard } from '../helpers/guards/guard-pool.ts';
import { expectFirstTries, failure, verdict } from '../helpers/guards/outcomes.ts';
import { audio, conversation, image, prompt, prompts, response } from '../helpers/guards/requests.ts';
import type { RestScripted, SeenModeration } from '../helpers/guards/rest-guard.ts';

/** A script for what is judged; the harmless text is answered as usual. */
const ofItems =
  (script: (request: SeenModeration) => RestScripted | Promise<RestScripted>) =>
  (request: SeenModeration): RestScripted | Promise<RestScripted> =>
    request.harmless ? undefined : script(request);

test('texts are sent as JSON, images and clips as files named by their format, all with the key (C-401, C-402, C-403, C-501, C-901)', async () => {
  const server = await restGuard({ path: '/team/a' });
  const pool = await connect([server], { token: () => 'secret' });
  const png = Buffer.from('\x89PNG\r\n\x1a\n and more', 'latin1');
  const wav = Buffer.from('RIFF....WAVEfmt ', 'latin1');
  const outcomes = await judge(pool, [prompt('é "quoted"'), image(png), audio(wav)]);
  const seen = new Map(server.seen.map((request) => [request.modality, request]));
  const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
  expect(seen.get('text')).toMatchObject({ content: 'é "quoted"', headers });
  expect(seen.get('image')!.file).toEqual({ name: 'item.png', type: 'image/png', bytes: png });
  expect(seen.get('audio')!.file).toEqual({ name: 'item.wav', type: 'audio/wav', bytes: wav });
  expect(verdict(outcomes[1])).toMatchObject({
    score: scoreOf(png.toString('base64')),
    subcategoryScores: null,
    fingerprint: null,
    endpoint: server.address,
    attempts: 1,
    cacheUsage: null,
    coverage: { unit: 'frames', judged: 1, total: 1 },
  });
  expect(pool.fingerprints.size).toBe(0);
  expect(pool.status()).toMatchObject([{ kind: 'rest', fingerprint: null, modelVersion: null }]);
});

test('a caption is judged as a text of its own, and the worse verdict counts (C-407)', async () => {
  const scores: Record<string, number> = { harmless: 0.1, hateful: 0.9 };
  const script = ofItems(({ content }) => {
    const score = scores[content] ?? 0.4;
    return { body: { flagged: score >= 0.5, score, subcategory_flags: {}, latency_ms: 1 } };
  });
  const server = await restGuard({ script });
  const outcomes = await judge(await connect([server]), [image('i', 'harmless'), audio('a', 'hateful')]);
  expect(verdict(outcomes[0])).toMatchObject({ score: 0.4, flagged: false });
  expect(verdict(outcomes[1])).toMatchObject({ score: 0.9, flagged: true, attempts: 1 });
  expect(server.seen.map(({ modality }) => modality).sort()).toEqual(['audio', 'image', 'text', 'text']);
});

test('a rate limit with Retry-After slows sending down and costs no attempts (C-811)', async () => {
  let [limitedAt, turnedAway, resumedAt] = [0, 0, 0];
  const script = ofItems(({ number }) => {
    if (number < 5) return undefined;
    limitedAt ||= performance.now();
    if (performance.now() < limitedAt + 500) {
      turnedAway++;
      return { status: 429, headers: { 'retry-after': '1' } };
    }
    resumedAt ||= performance.now();
    return undefined;
  });
  expectFirstTries(await judge(await connect([await restGuard({ script })]), prompts(60)));
  expect(resumedAt - limitedAt).toBeGreaterThanOrEqual(1000);
  // No more than were under way when the first was turned away.
  expect(turnedAway).toBeLessThanOrEqual(16);
});

test('a redirect is not followed: neither content nor key goes elsewhere (C-112)', async () => {
  const elsewhere = await restGuard();
  let redirect = true;
  const script = (): RestScripted =>
    redirect ? { status: 307, headers: { location: `${elsewhere.address}/v1/moderations/text` } } : undefined;
  const server = await restGuard({ script });
  expect(await refusalOf([server], { token: () => 'secret' })).toContain('redirects elsewhere');
  redirect = false;
  const pool = await connect([server], { token: () => 'secret' });
  redirect = true;
  await expectToOutlast(pool, prompts(3), () => {
    expect(pool.status()[0]!.state).toMatchObject({ reason: 'redirects elsewhere', fatal: false });
    redirect = false;
  });
  expect(elsewhere.connections()).toBe(0);
});

test('a key that is refused later ends the run (C-506)', async () => {
  let isRevoked = false;
  const script = () => (isRevoked ? { status: 401 } : undefined);
  const pool = await connect([await restGuard({ script })]);
  isRevoked = true;
  await expect(judge(pool, prompts(3))).rejects.toMatchObject({ kind: 'service' });
});

test.each(['cut off', 'drop'] as const)('a reply with the fault "%s" spends no tries', async (fault) => {
  let faults = 2;
  const script = ofItems(({ number }) => (number >= 5 && faults-- > 0 ? fault : undefined));
  expectFirstTries(await judge(await connect([await restGuard({ script })]), prompts(30)));
});

test('responses and conversations end as errors with a message of our own (C-408)', async () => {
  const server = await restGuard();
  const pool = await connect([server]);
  const messages = ['one', 'two'].map((text) => ['user', text] as const);
  const turns = [1, 2].map((count) => conversation(messages, { turns: count, of: 0 }));
  const outcomes = await judge(pool, [response(null, 'r'), prompt('a'), ...turns]);
  verdict(outcomes[1]);
  const notJudged = { error: { code: 'PROBE_NOT_LOADED' }, attempts: 0, endpoint: null };
  for (const at of [0, 2, 3]) expect(failure(outcomes[at])).toMatchObject(notJudged);
  expect(server.seen).toHaveLength(1);
});

test('without a key no authorization header is sent, and no fingerprint can be expected (C-503)', async () => {
  const server = await restGuard();
  await judge(await connect([server]), [prompt('a')]);
  expect(server.seen[0]!.headers.authorization).toBeUndefined();
  const expectFingerprint = `sha256:${'a'.repeat(64)}`;
  await expect(connect([server], { expectFingerprint })).rejects.toMatchObject({ kind: 'usage' });
});
