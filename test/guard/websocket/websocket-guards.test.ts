import { expect, it } from 'vitest';
import { connect, expectToOutlast, judge, refusalOf, socketServer } from '../../helpers/guards/guard-pool.ts';
import { failure, verdict } from '../../helpers/guards/outcomes.ts';
import { generation } from '../../helpers/guards/requests.ts';
import { ordinary, startSocketServer, type StreamScript } from '../../helpers/guards/scripted-streams.ts';

it('a handshake that the server fails on is tried again', async () => {
  const server = await socketServer({ refuse: '503 Service Unavailable' });
  expect(await refusalOf([server], { startTimeoutMs: 6000 })).toContain('not ready');
  expect(server.authorizations.length).toBeGreaterThan(1);
});

const tooMany: StreamScript = (stream, message) => {
  ordinary(stream, message);
  for (let count = 0; count < 100; count++) stream.verdict();
};

it.each<[what: string, script: StreamScript]>([
  ['a message over 16 KiB', (stream) => stream.fail('INTERNAL', 'x'.repeat(20_000))],
  ['more replies than messages', tooMany],
])('%s is against the contract, and costs one item (C-428)', async (_, script) => {
  const server = await socketServer({
    script: (stream, message) => (stream.messages[0]!.chunk === 'bad' ? script : ordinary)(stream, message),
  });
  const [bad, good] = await judge(await connect([server]), [generation(['bad', 'b']), generation(['a'])]);
  expect(failure(bad).error.code).toBe('INVALID_REPLY');
  verdict(good);
});

it('sends its token, and to nobody else (C-505)', async () => {
  const server = await socketServer();
  const pool = await connect([server], {
    token: ({ address }) => (address === server.address ? 'secret' : null),
  });
  await judge(pool, [generation(['a'])]);
  expect(new Set(server.authorizations)).toEqual(new Set(['Bearer secret']));
});

it('has no fingerprint', async () => {
  const server = await socketServer();
  const pool = await connect([server]);
  expect(verdict((await judge(pool, [generation(['a'])]))[0]).fingerprint).toBeNull();
  expect(pool.status()).toMatchObject([{ kind: 'websocket', fingerprint: null, modelVersion: null }]);
  const expectFingerprint = `sha256:${'a'.repeat(64)}`;
  await expect(connect([server], { expectFingerprint })).rejects.toMatchObject({ kind: 'usage' });
});

it('comes back after an outage, and the generation is judged at its first attempt (C-714)', async () => {
  const first = await startSocketServer();
  const pool = await connect([first]);
  first.setStreams(() => void first.kill());
  const port = Number(new URL(first.address).port);
  await expectToOutlast(pool, [generation(['a', 'b'])], () => socketServer({ port }));
});
