import { describe, expect, it, test } from 'vitest';
import { piecesOf } from '../../src/gateway/streams/relayed-stream.ts';
import { MAX_STREAM_TEXT_BYTES, type StreamRequest } from '../../src/guard/tensors/stream/stream-messages.ts';
import { connect, guard, restGuard } from '../helpers/guards/guard-pool.ts';
import { ordinary } from '../helpers/guards/scripted-streams.ts';
import { WebSocketStreamClient } from '../helpers/guards/stream-client.ts';
import { isProbe, STREAMING_GUARDS } from '../helpers/guards/streaming-guards.ts';
import { settled } from '../helpers/settled.ts';
import { gatewayTo, serve } from './serve.ts';

// The states and statuses of streams are tested for all servers in test/guard-server/streams/doors.test.ts, the handshakes
// that are refused in test/http/upgrades.test.ts.

const cadence = { unit: 'chunks', every: 1 } as const;
const first: Partial<StreamRequest> = { prompt: 'a prompt', chunk: 'one ', cadence };

/** The text of the metrics with this name. */
async function metric(origin: string, name: string): Promise<string> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  return text.split('\n').find((line) => line.startsWith(`${name} `)) ?? '';
}

describe('a moderation stream through the gateway', () => {
  it.each(STREAMING_GUARDS)('answers each message, from a guard over %s', async (_name, start) => {
    const stream = new WebSocketStreamClient(await gatewayTo(await start()));
    const second = { prompt: 'a prompt', cadence: { unit: 'chunks', every: 2 } } as const;
    for (let at = 0; at < 5; at++) {
      stream.send({ seq: 10 * at, chunk: 'zz', ...(at === 0 ? second : {}) });
      await stream.replied(at + 1);
    }
    stream.send({ seq: 99, endOfStream: true });
    await stream.judged(99);
    expect(stream.verdicts.map((verdict) => verdict.processedUntilSeq)).toEqual([-1, 10, 10, 30, 30, 99]);
    expect(stream.verdicts.map(({ isFinal }) => isFinal)).toEqual([...Array<boolean>(5).fill(false), true]);
    expect(stream.verdicts.at(-1)).toMatchObject({ flagged: true, score: 1 });
    stream.end();
    expect(await stream.ended).toBe('OK');
  });

  it('is answered with the latest verdict by a guard that waits for more text', async () => {
    const slow = await guard({
      streams: (stream, message) => {
        const isDue = message.endOfStream || stream.messages.length % 3 === 0;
        if (isDue || isProbe(stream)) ordinary(stream, message);
      },
    });
    const stream = new WebSocketStreamClient(await gatewayTo(slow));
    stream.send(first);
    await stream.replied(1);
    stream.send({ seq: 1, chunk: 'two ' });
    stream.send({ seq: 2, chunk: 'three ' });
    await stream.replied(3);
    expect(stream.verdicts.map(({ processedUntilSeq }) => processedUntilSeq)).toEqual([-1, 2, 2]);
    stream.send({ seq: 3, endOfStream: true });
    await stream.judged(3);
  });

  it('ends at the guard when the client goes away, and is counted while it is open', async () => {
    const server = await guard({ streams: ordinary });
    const origin = await gatewayTo(server);
    const stream = new WebSocketStreamClient(origin);
    stream.send(first);
    await stream.judged(0);
    expect(await metric(origin, 'guardsweep_moderation_streams_open')).toMatch(/ 1$/);
    stream.leave();
    await server.streams.find((one) => !isProbe(one))!.closed;
    await settled(async () => (await metric(origin, 'guardsweep_moderation_streams_open')).endsWith(' 0'));
    expect(await metric(origin, 'guardsweep_moderation_stream_verdicts_total')).toMatch(/ 1$/);
  });

  it('ends with UNAVAILABLE, in words, when the gateway shuts down', async () => {
    const gateway = await serve(await connect([await guard({ streams: ordinary })]));
    const stream = new WebSocketStreamClient(gateway.origin);
    stream.send(first);
    await stream.judged(0);
    const closed = gateway.close(new AbortController().signal);
    expect(await stream.ended).toBe('UNAVAILABLE');
    expect(stream.text).toBe('the server is shutting down');
    await closed;
  });

  it('ends with UNIMPLEMENTED where no guard takes streams', async () => {
    const { origin } = await serve(await connect([await guard(), await restGuard()]));
    const stream = new WebSocketStreamClient(origin);
    stream.send(first);
    expect(await stream.ended).toBe('UNIMPLEMENTED');
  });

  it('may have long chunks, which reach the guard in pieces', async () => {
    const server = await guard({ streams: ordinary });
    const origin = await gatewayTo(server);
    const stream = new WebSocketStreamClient(origin);
    const chunk = 'z'.repeat(MAX_STREAM_TEXT_BYTES - 1000);
    stream.send({ ...first, chunk, endOfStream: true });
    expect(await stream.judged(0)).toMatchObject({ isFinal: true, flagged: true });
    const { messages } = server.streams.find((one) => !isProbe(one))!;
    expect(messages.map((message) => message.chunk ?? '').join('')).toBe(chunk);
    stream.end();
  });
});

test('pieces of a text are short, end between characters, and are the text together', () => {
  for (const text of ['', 'a', 'é'.repeat(300_000), `a${'😀'.repeat(300_000)}`, '😀'.repeat(131_072)]) {
    const pieces = piecesOf(text);
    expect(pieces.join('') === text).toBe(true);
    for (const piece of pieces) {
      expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(MAX_STREAM_TEXT_BYTES);
      expect(piece).not.toMatch(/\p{Surrogate}/u);
      expect(piece).not.toBe('');
    }
  }
});
