import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { MAX_STREAM_TEXT_BYTES } from '../../../src/guard/tensors/stream/stream-messages.ts';
import { WebSocketStreamClient } from '../../helpers/guards/stream-client.ts';
import { sharedGuard } from '../../helpers/guards/shared-guard.ts';

const { server } = await sharedGuard({ httpPort: 0 });

const open = () => new WebSocketStreamClient(server.httpAddress!);

test('each message is answered with one verdict, those that are due with their own (C-427, C-428)', async () => {
  const stream = open();
  const first = { prompt: 'p', cadence: { unit: 'chunks', every: 2 } } as const;
  for (let seq = 0; seq < 5; seq++) {
    stream.send({ seq, chunk: 'word ', ...(seq === 0 ? first : {}) });
    await stream.replied(seq + 1);
  }
  stream.send({ seq: 5, chunk: '', endOfStream: true });
  await stream.judged(5);
  expect(stream.verdicts.map(({ processedUntilSeq }) => processedUntilSeq)).toEqual([-1, 1, 1, 3, 3, 5]);
  expect(stream.verdicts.map(({ isFinal }) => isFinal)).toEqual([...Array<boolean>(5).fill(false), true]);
  expect(stream.verdicts[0]).toMatchObject({ flagged: false, needsCaution: false, score: null });
  stream.end();
  expect(await stream.ended).toBe('OK');
});

function sendFrames(socket: WebSocket): void {
  for (let frame = 0; frame < 5000; frame++) socket.send(' ', { fin: false });
}

test.each<[what: string, write: (socket: WebSocket) => void, status: string]>([
  ['that is binary', (socket) => socket.send(Buffer.from('{"seq": 0}')), 'INVALID_ARGUMENT'],
  ['that is too long', (socket) => socket.send('x'.repeat(MAX_STREAM_TEXT_BYTES + 1)), 'close code 1009'],
  ['in thousands of frames', sendFrames, 'close code 1008'],
  ['that is not UTF-8', (socket) => socket.send(Buffer.from([0xff]), { binary: false }), 'close code 1007'],
])('a message %s closes the socket', async (_, write, status) => {
  const stream = open();
  await once(stream.socket, 'open');
  write(stream.socket);
  expect(await stream.ended).toBe(status);
});

test.each([
  ['other paths', '/v1/moderations/other', {}, 404],
  ['other sites', '/v1/moderations/response-stream', { origin: 'http://example.com' }, 403],
])('handshakes of %s are refused (C-505)', async (_what, path, headers, status) => {
  const socket = new WebSocket(`${server.httpAddress!.replace('http', 'ws')}${path}`, { headers });
  socket.on('error', () => {});
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
  expect(response.statusCode).toBe(status);
  socket.terminate();
});
