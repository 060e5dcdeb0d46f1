import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseRedisUrl } from '../../src/config/values/redis-url.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { expectStatus, fleetWithComments } from '../helpers/fleet.ts';
import { CLUSTER_NODE, ownAllSlots } from '../helpers/redis/redis-cluster.ts';
import { freePort } from '../helpers/free-port.ts';
import { linkForTest, redisForTest } from '../helpers/redis/redis.ts';
import { outcomes, until } from '../helpers/run-directory.ts';

const ROWS = 1000;

/** A way to reach a Redis, with what the processes need in their environment. */
interface Way {
  readonly url: string;
  readonly env: NodeJS.ProcessEnv;
  /** Afterwards. */
  readonly check?: () => Promise<void>;
}

async function withPasswordAndDatabase(): Promise<Way> {
  const { port } = await redisForTest({ tcp: true, settings: ['--requirepass', 'p@ss/word'] });
  const check = async (): Promise<void> => {
    const admin = new Redis({ port, password: 'p@ss/word' });
    onTestFinished(() => admin.disconnect());
    expect(await admin.dbsize()).toBe(0);
  };
  return { url: `redis://:p%40ss%2Fword@127.0.0.1:${port}/5`, env: {}, check };
}

async function overTls(): Promise<Way> {
  const { path, keyPath } = await makeCertificate(await temporaryFolder(), '127.0.0.1');
  const port = await freePort();
  const files = ['--tls-cert-file', path, '--tls-key-file', keyPath, '--tls-auth-clients', 'no'];
  await redisForTest({ settings: ['--tls-port', String(port), ...files] });
  return { url: `rediss://127.0.0.1:${port}`, env: { NODE_EXTRA_CA_CERTS: path } };
}

/** The user that docs/fleet.md advises. */
async function asAclUser(): Promise<Way> {
  const docs = readFileSync(new URL('../../docs/fleet.md', import.meta.url), 'utf8');
  const rules = /^ *ACL SETUSER fleet on >password (.+)$/m.exec(docs)![1]!.split(' ');
  const redis = await redisForTest({ tcp: true, settings: ['--user', 'fleet', 'on', '>hidden', ...rules] });
  const check = async (): Promise<void> => {
    const admin = new Redis(redis.port);
    onTestFinished(() => admin.disconnect());
    expect(await admin.call('ACL', 'LOG')).toEqual([]);
    const stranger = new Redis({ port: redis.port, username: 'fleet', password: 'hidden' });
    onTestFinished(() => stranger.disconnect());
    await expect(stranger.get('not-of-the-fleet')).rejects.toThrow('NOPERM');
    await expect(stranger.flushall()).rejects.toThrow('NOPERM');
  };
  return { url: `redis://fleet:hidden@127.0.0.1:${redis.port}`, env: {}, check };
}

async function nodeOfACluster(): Promise<Way> {
  const { port, url } = await redisForTest({ tcp: true, settings: CLUSTER_NODE });
  await ownAllSlots(port);
  return { url, env: { REDIS_PREFIX: 'nightly' } };
}

const WAYS: Readonly<Record<string, () => Promise<Way>>> = {
  'a Unix socket': async () => ({ url: (await redisForTest()).url, env: {} }),
  'a port of this machine, with a fleet key': async () => ({
    url: (await redisForTest({ tcp: true })).url,
    env: { GUARDSWEEP_FLEET_KEY: '0123456789abcdef'.repeat(4) },
  }),
  'a port, with a password and a database': withPasswordAndDatabase,
  TLS: overTls,
  'the ACL user that the documentation advises': asAclUser,
  'one node with cluster mode on, under a prefix': nodeOfACluster,
};

describe('a run through Redis by way of', { timeout: 240_000 }, () => {
  it.each(Object.entries(WAYS))('%s', async (_, open) => {
    const { url, env, check } = await open();
    const { fleet, path } = await fleetWithComments(ROWS, { redis: { url }, guards: ['embedded:'], env });
    const worker = fleet.worker();
    const feeder = fleet.enqueue(path);
    const run = await fleet.run();
    const waiting = 'waiting for a sink (guardsweep sink)';
    // A process of its own, for its environment says whom it trusts.
    const status = () => guardsweep(['status', run], { env: { ...env, REDIS_URL: url } });
    await until(async () => (await status()).stdout.includes(waiting), waiting);
    const sink = fleet.sink(['--metrics-port', '0']);
    const endpoint = await until(async () => /http:\S+/.exec(sink.stderr)?.[0], 'metrics of the sink');
    const metrics = await (await fetch(endpoint)).text();
    expect(metrics).toMatch(/guardsweep_queue_jobs\{queue="text",state="active"\} \d/);
    const done = await feeder.finished();
    expectStatus(done, 0);
    // Nobody is warned of anything, nor is work in doubt.
    for (const { stderr } of [done, worker, sink]) expect(stderr).not.toMatch(/warning|away|cannot/i);
    expect(await verifyRun(run, {})).toMatchObject({ ok: true });
    expect(await outcomes(run)).toHaveLength(ROWS);
    const prefix = env['REDIS_PREFIX'] ?? 'guardsweep';
    const address = parseRedisUrl({ value: url, place: '--redis' }, env);
    if (!address.tls) {
      const { redis } = await linkForTest({ address });
      const ofRun = async () => (await redis.keys('*')).filter((key) => key.includes(run.split('/').at(-1)!));
      await until(async () => (await ofRun()).length === 0, 'the run to leave Redis');
      expect((await redis.keys('*')).every((key) => key.startsWith(`{${prefix}}:`))).toBe(true);
    }
    await check?.();
  });
});
