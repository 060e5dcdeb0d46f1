import { describe, expect, it } from 'vitest';
import type { ItemCode } from '../../../src/domain/item-error.ts';
import type { PoolOptions } from '../../../src/guard/pool/connect-guards.ts';
import type { StatusName } from '../../../src/guard/tensors/stream/stream-status.ts';
import { connect, connected, guard, judge, restGuard } from '../../helpers/guards/guard-pool.ts';
import { expectOnlyFailure, failure, verdict } from '../../helpers/guards/outcomes.ts';
import { generation, prompts } from '../../helpers/guards/requests.ts';
import { ordinary, type StreamScript } from '../../helpers/guards/scripted-streams.ts';
import { isProbe, STREAMING_GUARDS } from '../../helpers/guards/streaming-guards.ts';

const GENERATION = generation(['aaaa', 'zz', 'zzzz', 'aa']);

describe.each(STREAMING_GUARDS)('a generation replayed over %s', (_name, start) => {
  const pool = (options: Partial<PoolOptions> = {}) => connected(start, {}, options);

  it('ends with the final verdict, and tells what the earlier ones found (C-102, C-303, C-421)', async () => {
    const { server, pool: guards } = await pool();
    const [outcome] = await judge(guards, [GENERATION]);
    expect(verdict(outcome)).toMatchObject({
      score: 0.5,
      flagged: true,
      coverage: { unit: 'chars', judged: 12, total: 12 },
      attempts: 1,
      stream: { chunks: 4, judgedChunks: 4, firstCautionSeq: 1, firstFlaggedSeq: 2 },
    });
    const { messages } = server.streams.find((stream) => !isProbe(stream))!;
    const first = { prompt: 'say it', cadence: { unit: 'chunks', every: 1 } };
    const later = { prompt: null, cadence: null };
    expect(messages.map((message) => ({ ...message, chunk: message.chunk || null }))).toMatchObject([
      { seq: 0, chunk: 'aaaa', endOfStream: false, ...first },
      { seq: 1, chunk: 'zz', endOfStream: false, ...later },
      { seq: 2, chunk: 'zzzz', endOfStream: false, ...later },
      { seq: 3, chunk: 'aa', endOfStream: false, ...later },
      { seq: 4, chunk: null, endOfStream: true, ...later },
    ]);
  });

  it('is replayed from its start when its stream dies, with the same outcome (C-310)', async () => {
    const { server, pool: guards } = await pool();
    const undisturbed = verdict((await judge(guards, [GENERATION]))[0]);
    let deaths = 2;
    server.setStreams((stream, message) => {
      if (message.seq === 2 && deaths-- > 0) stream.fail('UNAVAILABLE', 'restarting');
      else ordinary(stream, message);
    });
    const again = verdict((await judge(guards, [GENERATION]))[0]);
    expect(again.attempts).toBe(3);
    const lag = { lagChunks: 0, lagMs: 0 };
    expect({ ...again.stream, ...lag }).toEqual({ ...undisturbed.stream, ...lag });
    expect(again).toMatchObject({ score: undisturbed.score, flagged: undisturbed.flagged });
  });

  it.each<[code: StatusName, details: string, error: ItemCode, tries: number]>([
    ['INVALID_ARGUMENT', 'seq is not higher', 'GUARD_REJECTED', 1],
    ['FAILED_PRECONDITION', 'SEQUENCE_OVERFLOW: too long', 'SEQUENCE_OVERFLOW', 1],
    ['RESOURCE_EXHAUSTED', 'too many streams', 'GUARD_OVERLOADED', 5],
    ['UNAVAILABLE', 'shedding load', 'GUARD_UNAVAILABLE', 5],
  ])('that ends with %s (%s) is %s (C-305, C-708, C-713)', async (code, details, error, attempts) => {
    const { server, pool: guards } = await pool();
    server.setStreams((stream, message) => {
      if (message.seq === 1 && message.chunk === 'bad') stream.fail(code, details);
      else ordinary(stream, message);
    });
    const outcomes = await judge(guards, [generation(['a', 'b']), generation(['a', 'bad', 'c'])]);
    expectOnlyFailure(outcomes, 1, error, attempts);
  });

  it.each<[what: string, script: StreamScript]>([
    ['a verdict beyond what was sent', (stream) => stream.verdict({ processedUntilSeq: 7 })],
    ['a final verdict before the end', (stream) => stream.verdict({ isFinal: true })],
    ['a finding before any text', (stream) => stream.verdict({ processedUntilSeq: -1, flagged: true })],
    ['garbage', (stream) => stream.garbage()],
    ['an end without a final verdict', (stream) => stream.end()],
  ])('costs one item only when it gets %s (C-227)', async (_what, script) => {
    const { server, pool: guards } = await pool();
    server.setStreams((stream, message) =>
      (stream.messages[0]!.chunk === 'bad' ? script : ordinary)(stream, message),
    );
    const outcomes = await judge(guards, [generation(['a', 'b']), generation(['bad', 'c', 'd'])]);
    expectOnlyFailure(outcomes, 1, 'INVALID_REPLY');
    await Promise.all(server.streams.map(({ closed }) => closed));
  });

  it('times out when the guard makes no progress, not when the whole takes long', async () => {
    const { server, pool: guards } = await pool({ requestTimeoutMs: 600 });
    server.setStreams((stream, message) => {
      if (stream.messages[0]!.chunk === 'bad') return;
      if (isProbe(stream)) ordinary(stream, message);
      else setTimeout(() => ordinary(stream, message), 150);
    });
    const outcomes = await judge(guards, [generation([...'abcdef']), generation(['bad', 'c'])]);
    expectOnlyFailure(outcomes, 1, 'TIMEOUT', 5);
  });
});

describe('over gRPC', () => {
  it('stamps a generation with the model that judged all of it', async () => {
    const { server, pool } = await connected(guard, { streams: ordinary });
    let swapped = false;
    server.setStreams((stream, message) => {
      if (message.seq === 1 && !swapped && !isProbe(stream)) {
        swapped = true;
        server.deploy('model-b', '2');
      }
      ordinary(stream, message);
    });
    const judgement = verdict((await judge(pool, [generation(['a', 'b', 'c'])]))[0]);
    expect(judgement.attempts).toBe(1);
    expect(server.streams.filter((stream) => !isProbe(stream))).toHaveLength(2);
    expect(pool.status()[0]!.fingerprint).toBe(judgement.fingerprint);
    expect(pool.status()[0]!.retries.MODEL_CHANGED).toBe(1);
  });

  it('is judged by a guard that streams, whichever others there are', async () => {
    const streaming = await guard({ streams: ordinary });
    const pool = await connect([await guard(), await restGuard(), streaming]);
    const outcomes = await judge(pool, [generation(['a']), ...prompts(3), generation(['b'])]);
    for (const index of [0, 4]) expect(verdict(outcomes[index]).endpoint).toBe(streaming.address);
  });

  it('says that no guard takes streams (C-902)', async () => {
    const pool = await connect([await guard(), await restGuard()]);
    const outcomes = await judge(pool, [generation(['a']), ...prompts(1)]);
    expect(failure(outcomes[0]).error.code).toBe('PROBE_NOT_LOADED');
    verdict(outcomes[1]);
  });
});
