import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { PoolOptions } from '../../../src/guard/pool/connect-guards.ts';
import type { GuardPool } from '../../../src/guard/pool/pool.ts';
import type { GuardStream } from '../../../src/guard/streams/guard-stream.ts';
import { GuardStreamError } from '../../../src/guard/streams/guard-stream-error.ts';
import type { StreamVerdict } from '../../../src/guard/tensors/stream/stream-messages.ts';
import type { StatusName } from '../../../src/guard/tensors/stream/stream-status.ts';
import { connect, connected, guard } from '../../helpers/guards/guard-pool.ts';
import { settled } from '../../helpers/settled.ts';
import { ordinary, type ScriptedStream, type StreamScript } from '../../helpers/guards/scripted-streams.ts';
import { exceptProbe, isProbe, STREAMING_GUARDS } from '../../helpers/guards/streaming-guards.ts';

const open = async (pool: GuardPool, signal = new AbortController().signal): Promise<GuardStream> =>
  pool.openStream({ streamId: 'id-1', prompt: 'say it', cadence: null, signal });

/** All verdicts, and the error that ended the stream; null without one. */
async function readAll({ verdicts }: GuardStream): Promise<[verdicts: StreamVerdict[], error: unknown]> {
  const all: StreamVerdict[] = [];
  try {
    for await (const one of verdicts) all.push(one);
    return [all, null];
  } catch (error) {
    return [all, error];
  }
}

/** The status that a call of a stream fails with. */
async function codeOf(call: Promise<unknown>): Promise<string> {
  const error = await call.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(GuardStreamError);
  return (error as GuardStreamError).status;
}

describe.each(STREAMING_GUARDS)('an interactive stream over %s', (_name, start) => {
  const prepared = async (script: StreamScript = ordinary, options: Partial<PoolOptions> = {}) => {
    const { server, pool } = await connected(start, {}, options);
    server.setStreams(exceptProbe(script));
    return { server, pool };
  };

  it('Open: takes chunks and gives verdicts; end: gives the final one and is over (C-224, C-301, C-302, C-309, C-601)', async () => {
    const { pool } = await prepared();
    const stream = await open(pool);
    const read = readAll(stream);
    for (const chunk of ['aaaa', 'zz', 'zzzz']) await stream.send(chunk);
    await stream.end();
    const [verdicts, error] = await read;
    expect(error).toBeNull();
    const found = verdicts.map((it) => [it.processedUntilSeq, it.needsCaution, it.flagged, it.isFinal]);
    expect(found).toEqual([
      [0, false, false, false],
      [1, true, false, false],
      [2, false, true, false],
      [3, false, true, true],
    ]);
  });

  it('Open: refuses an empty chunk, and an end before any chunk; Final: refuses everything (C-225, C-304, C-308, C-709, C-815)', async () => {
    const { pool } = await prepared();
    const stream = await open(pool);
    const codes = (...calls: Promise<void>[]) => Promise.all(calls.map(codeOf));
    expect(await codes(stream.send(''), stream.end())).toEqual(['INVALID_ARGUMENT', 'FAILED_PRECONDITION']);
    await stream.send('a');
    await stream.end();
    expect(await codes(stream.send('b'), stream.end())).toEqual(Array(2).fill('FAILED_PRECONDITION'));
    expect((await readAll(stream))[1]).toBeNull();
  });

  it.each<[code: StatusName, details: string, expected: string]>([
    ['FAILED_PRECONDITION', 'ended', 'INVALID_ARGUMENT'],
    ['FAILED_PRECONDITION', 'PROBE_NOT_LOADED: response', 'FAILED_PRECONDITION'],
    ['RESOURCE_EXHAUSTED', 'lag', 'RESOURCE_EXHAUSTED'],
    ['CANCELLED', 'gone', 'INTERNAL'],
  ])(
    'Terminated by %s (%s): verdicts before it stay valid (C-307, C-715)',
    async (code, details, expected) => {
      const { pool } = await prepared((stream, message) =>
        message.seq < 2 ? ordinary(stream, message) : stream.fail(code, details),
      );
      const stream = await open(pool);
      const read = readAll(stream);
      for (const chunk of ['a', 'b', 'c']) await stream.send(chunk).catch(() => {});
      const [verdicts, error] = await read;
      expect(verdicts.at(-1)?.processedUntilSeq).toBe(1);
      expect(await codeOf(Promise.reject(error as Error))).toBe(expected);
      expect(await codeOf(stream.send('d'))).toBe(expected);
    },
  );

  it('Terminated by abort, and the guard hears of it (C-306)', async () => {
    let seen: ScriptedStream | null = null;
    const { pool } = await prepared((stream, message) => {
      seen = stream;
      ordinary(stream, message);
    });
    const controller = new AbortController();
    const stream = await open(pool, controller.signal);
    await stream.send('a');
    for await (const verdict of stream.verdicts) {
      expect(verdict.processedUntilSeq).toBe(0);
      controller.abort(new Error('enough'));
      break;
    }
    await expect(stream.send('b')).rejects.toThrow('enough');
    await seen!.closed;
  });

  it('fails when its guard dies, and none can be opened until one is back', async () => {
    const { server, pool } = await prepared();
    const stream = await open(pool);
    await stream.send('a');
    const verdicts = stream.verdicts[Symbol.asyncIterator]();
    expect((await verdicts.next()).value).toMatchObject({ processedUntilSeq: 0 });
    await server.kill();
    // A gRPC server that is told to stop at once cancels its calls.
    expect(['UNAVAILABLE', 'INTERNAL']).toContain(await codeOf(verdicts.next()));
    await settled(() => pool.status()[0]!.state.name === 'out');
    expect(await codeOf(open(pool))).toBe('UNAVAILABLE');
  });
});

describe('many streams', () => {
  it('are bounded per guard, and spread over the guards', async () => {
    const servers = [await guard({ streams: ordinary }), await guard({ streams: ordinary })];
    const pool = await connect(servers);
    const streams: GuardStream[] = [];
    const fill = async (): Promise<void> => {
      while (streams.length < 1000) streams.push(await open(pool));
    };
    expect(await codeOf(fill())).toBe('RESOURCE_EXHAUSTED');
    expect(streams.length).toBeLessThanOrEqual(128);
    await Promise.all(streams.map((stream) => stream.send('a')));
    await Promise.all(streams.map((stream) => stream.end()));
    for (const [verdicts, failed] of await Promise.all(streams.map(readAll))) {
      expect(failed).toBeNull();
      expect(verdicts.at(-1)).toMatchObject({ isFinal: true });
    }
    const counts = servers.map(({ streams: all }) => all.filter((stream) => !isProbe(stream)).length);
    expect(counts[0]! + counts[1]!).toBe(streams.length);
    expect(Math.abs(counts[0]! - counts[1]!)).toBeLessThan(2);
    await setImmediate();
    await (await open(pool)).send('a');
  });

  it('give a slow reader the latest verdict, and hold no more than it can use', async () => {
    const { pool } = await connected(guard, { streams: ordinary });
    const stream = await open(pool);
    const { successes } = pool.status()[0]!;
    for (let count = 0; count < 1000; count++) await stream.send('a');
    await stream.end();
    await settled(() => pool.status()[0]!.successes > successes);
    const [verdicts] = await readAll(stream);
    expect(verdicts.length).toBeLessThan(600);
    expect(verdicts.at(-1)).toMatchObject({ isFinal: true, processedUntilSeq: 1000 });
  });
});
