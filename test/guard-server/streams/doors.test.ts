import { describe, expect, it, onTestFinished, test } from 'vitest';
import type { GuardServer } from '../../../src/guard-server/server.ts';
import type { ScriptedFault } from '../../../src/guard-server/synthetic/faults.ts';
import type { Cadence, StreamRequest } from '../../../src/guard/tensors/stream/stream-messages.ts';
import type { StreamLimits } from '../../../src/http/streams/stream-limits.ts';
import { serve } from '../../gateway/serve.ts';
import { connect } from '../../helpers/guards/guard-pool.ts';
import { guardForTest } from '../../helpers/guards/shared-guard.ts';
import {
  type StreamClient,
  StreamConnection,
  WebSocketStreamClient,
} from '../../helpers/guards/stream-client.ts';
import { settled } from '../../helpers/settled.ts';

const LIMITS = { streams: 6, streamsPerConnection: 4, unjudgedText: 500, unjudgedChunks: 20 };

/** The first message of a stream whose chunks are judged one by one. */
const first: Partial<StreamRequest> = {
  streamId: 'stream',
  prompt: 'a prompt',
  chunk: 'one ',
  cadence: { unit: 'chunks', every: 1 },
};

type Door = [
  name: string,
  /** Connects to a server; the function that it returns opens streams. */
  connectTo: (server: GuardServer, streamLimits: Partial<StreamLimits>) => Promise<() => StreamClient>,
];
const overSocket = (address: string) => () => new WebSocketStreamClient(address);
const DOORS: Door[] = [
  [
    'gRPC',
    async ({ address }) => {
      const connection = new StreamConnection(address);
      onTestFinished(() => connection.close());
      return () => connection.open();
    },
  ],
  ['WebSocket', async ({ httpAddress }) => overSocket(httpAddress!)],
  // In front of the server, with the same limits.
  [
    'the gateway',
    async (server, streamLimits) => {
      const pool = await connect([server], { maxWaitMs: null, stampVerdicts: false });
      // Asks the guard whether it has streams, which is not a part of any test.
      await pool.notJudged({ requestType: 'generation', modality: 'text' }, new AbortController().signal);
      const { origin } = await serve(pool, { streamLimits });
      return overSocket(origin);
    },
  ],
];

describe.each(DOORS)('moderation streams over %s', (name, connectTo) => {
  async function start(limits: Partial<StreamLimits> = {}) {
    const streamLimits = { ...LIMITS, ...limits };
    const { server } = await guardForTest({ httpPort: 0, streamLimits });
    return { server, control: server.synthetic!, open: await connectTo(server, streamLimits) };
  }

  it('judge a generation on its cadence and say when they are done (C-102, C-223, C-226, C-301, C-302, C-303, C-421, C-426, C-601)', async () => {
    const stream = (await start()).open();
    stream.send(first);
    expect(await stream.judged(0)).toMatchObject({ processedUntilSeq: 0, isFinal: false });
    stream.send({ seq: 5, chunk: 'two ' });
    expect(await stream.judged(5)).toMatchObject({ processedUntilSeq: 5, isFinal: false });
    stream.send({ seq: 6, chunk: '', endOfStream: true });
    const final = await stream.judged(6);
    expect(final).toMatchObject({ processedUntilSeq: 6, isFinal: true });
    expect(final.score).toBeGreaterThan(0);
    stream.end();
    expect(await stream.ended).toBe('OK');
    expect(stream.verdicts.filter(({ isFinal }) => isFinal)).toHaveLength(1);
  });

  const chunk = (seq: number, more: Partial<StreamRequest> = {}) => ({ seq, chunk: 'more', ...more });
  const end = (seq: number): Partial<StreamRequest> => ({ seq, endOfStream: true });
  const settings = (cadence: Cadence) => [{ ...first, cadence }];
  const [INVALID, FAILED] = ['INVALID_ARGUMENT', 'FAILED_PRECONDITION'] as const;
  /** Messages after a valid first one, unless `alone`, and the status that the last of them ends the stream with. */
  const messages: [what: string, status: string, requests: Partial<StreamRequest>[], how?: 'alone'][] = [
    ['a duplicate seq', INVALID, [chunk(0)]],
    ['another cadence', INVALID, [chunk(1, { cadence: { unit: 'ms', every: 50 } })]],
    ['a blank prompt', INVALID, [{ ...first, prompt: ' \n' }], 'alone'],
    ['a prompt longer than the context', INVALID, [{ ...first, prompt: 'x'.repeat(40_000) }], 'alone'],
    ['too long a cadence', INVALID, settings({ unit: 'chunks', every: 1025 }), 'alone'],
    ['too short a cadence', INVALID, settings({ unit: 'ms', every: 9 }), 'alone'],
    ['an end before any chunk', FAILED, [end(0)], 'alone'],
    ['a chunk after the end', FAILED, [end(1), chunk(2)]],
  ];
  test.each(messages)(
    '%s ends them with %s (C-225, C-304, C-305, C-308, C-425, C-708, C-709, C-717, C-815)',
    async (_what, status, requests, how) => {
      const stream = (await start()).open();
      if (how === undefined) {
        stream.send(first);
        await stream.judged(0);
      }
      for (const request of requests) stream.send(request);
      expect(await stream.ended).toBe(status);
      expect(stream.text).not.toBe('');
    },
  );

  test.each([
    ['before', INVALID],
    ['after', FAILED],
  ])('nonsense %s the final verdict ends them with %s (C-303, C-305, C-308, C-709)', async (when, status) => {
    const stream = (await start()).open();
    stream.send({ ...first, endOfStream: when === 'after' });
    expect(await stream.judged(0)).toMatchObject({ isFinal: when === 'after' });
    stream.sendNonsense();
    expect(await stream.ended).toBe(status);
  });

  // A full queue is UNAVAILABLE at the guard; to the gateway, it is the same as any other overload.
  const overloaded = name === 'the gateway' ? 'RESOURCE_EXHAUSTED' : 'UNAVAILABLE';
  const faults: [status: string, fault: ScriptedFault][] = [
    ['INTERNAL', { kind: 'crash', containing: 'trouble' }],
    ['INTERNAL', { kind: 'malformed', containing: 'trouble', reply: 'truncated' }],
    ['INVALID_ARGUMENT', { kind: 'refuse', containing: 'trouble', code: 'GUARD_REJECTED' }],
    [overloaded, { kind: 'overload' }],
    ['UNAVAILABLE', { kind: 'down' }],
  ];
  test.each(faults)(
    '%s is the end of a stream whose model has a fault: %o (C-307, C-311, C-714, C-715)',
    async (status, fault) => {
      const { open, control } = await start();
      const stream = open();
      stream.send(first);
      await stream.judged(0);
      control.setFaults([fault]);
      stream.send({ seq: 1, chunk: 'trouble ' });
      expect(await stream.ended).toBe(status);
      // The verdict from before the fault remains the boundary.
      expect(stream.verdicts.map(({ processedUntilSeq }) => processedUntilSeq).at(-1)).toBe(0);
    },
  );

  test('UNAVAILABLE is the end of a stream that is opened before the model is ready (C-714)', async () => {
    const { open, control } = await start();
    control.setFaults([{ kind: 'down' }]);
    const stream = open();
    stream.send(first);
    expect(await stream.ended).toBe('UNAVAILABLE');
  });

  test.each([
    ['text', 6, 'x'.repeat(100)],
    ['chunks', LIMITS.unjudgedChunks, 'x'],
  ])(
    'RESOURCE_EXHAUSTED is the end of a stream with more %s than may wait (C-711)',
    async (_, count, chunk) => {
      const { open, control } = await start();
      control.pause();
      const stream = open();
      stream.send(first);
      for (let seq = 1; seq <= count; seq++) stream.send({ seq, chunk });
      expect(await stream.ended).toBe('RESOURCE_EXHAUSTED');
    },
  );

  test('RESOURCE_EXHAUSTED is the end of a stream too many (C-710, C-814)', async () => {
    const { open } = await start();
    for (let count = 0; count < LIMITS.streams; count++) {
      const stream = open();
      stream.send(first);
      await Promise.race([stream.judged(0), stream.ended]);
    }
    const another = open();
    another.send(first);
    expect(await another.ended).toBe('RESOURCE_EXHAUSTED');
  });

  it('free their places, and withdraw their work, when the client disconnects (C-306)', async () => {
    const { open, control } = await start();
    control.pause();
    const streams = Array.from({ length: 4 }, () => open());
    for (const stream of streams) stream.send({ ...first, endOfStream: true });
    await settled(() => control.counts.executions > 0);
    for (const stream of streams) stream.leave();
    await settled(() => control.waiting === 0);
    control.resume();
    await settled(async () => {
      const stream = open();
      stream.send({ ...first, endOfStream: true });
      stream.end();
      return (await stream.ended) === 'OK';
    });
  });

  test.each([false, true])(
    'a lag ends them, also after their end: %s (C-307, C-712)',
    async (endOfStream) => {
      const { open, control } = await start({ lagMs: 20 });
      control.pause();
      const stream = open();
      stream.send({ ...first, endOfStream });
      if (endOfStream) stream.end();
      expect(await stream.ended).toBe('RESOURCE_EXHAUSTED');
      expect(stream.text).toContain('lag');
    },
  );

  test('a client that sends nothing ends them with CANCELLED (C-716)', async () => {
    const stream = (await start({ idleMs: 100 })).open();
    stream.send(first);
    expect(await stream.ended).toBe('CANCELLED');
  });

  test('a client that stays after the final verdict is sent away (C-815)', async () => {
    const stream = (await start({ lingerMs: 20 })).open();
    stream.send({ ...first, endOfStream: true });
    expect(await stream.ended).toBe('OK');
    expect(stream.verdicts).toHaveLength(1);
  });

  test('the end of the server ends them with UNAVAILABLE (C-714)', async () => {
    const { open, server } = await start();
    const stream = open();
    stream.send(first);
    await stream.judged(0);
    const closed = server.close();
    expect(await stream.ended).toBe('UNAVAILABLE');
    await closed;
  });

  test('a cadence in milliseconds makes one verdict of what arrived meanwhile (C-423)', async () => {
    const { open, control } = await start({ lingerMs: 20 });
    const before = control.counts.executions;
    const stream = open();
    stream.send({ ...first, cadence: { unit: 'ms', every: 10_000 } });
    for (let seq = 1; seq < 5; seq++) stream.send({ seq, chunk: 'more ' });
    stream.send({ seq: 5, endOfStream: true });
    expect(await stream.judged(5)).toMatchObject({ isFinal: true });
    stream.end();
    expect(await stream.ended).toBe('OK');
    expect(control.counts.executions - before).toBe(1);
  });
});
