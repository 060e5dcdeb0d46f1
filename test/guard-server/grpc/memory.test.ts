import type { ClientHttp2Stream } from 'node:http2';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { measuredGuard } from '../../helpers/guards/measured-guard.ts';
import { delimited, framed, prefix, RawConnection } from '../../helpers/guards/raw-call.ts';

const MIB = 1024 * 1024;
const TOKEN = 'opensesame';

/** A message of so many bytes, until the server has had enough. */
async function pour(stream: ClientHttp2Stream, bytes: number): Promise<void> {
  const chunks = Array<Buffer>(bytes / MIB).fill(Buffer.alloc(MIB));
  await pipeline(Readable.from([prefix(bytes), ...chunks]), stream).catch(() => {});
}

it.runIf(process.platform === 'linux')('200 MiB without the token take no memory', async () => {
  const guard = await measuredGuard(TOKEN);
  const connections = Array.from({ length: 4 }, () => new RawConnection(guard.address));
  const calls = connections.map((connection) => connection.call());
  await Promise.all(calls.map(({ stream }) => pour(stream, 50 * MIB)));
  for (const call of calls) expect(await call.status).toBe(status.UNAUTHENTICATED);
  await Promise.all(connections.map((connection) => connection.close()));
  const grown = await guard.grown();
  console.log(`200 MiB without the token: ${(grown / MIB).toFixed(0)} MiB`);
  expect(grown).toBeLessThan(48 * MIB);
});

/** The inputs of one request with raw contents: TEXT of a shape, and its bytes. */
function rawText(shape: Buffer, content: Buffer): Buffer {
  const tensor = Buffer.concat([
    delimited(1, Buffer.from('TEXT')),
    delimited(2, Buffer.from('BYTES')),
    delimited(3, shape),
  ]);
  return Buffer.concat([delimited(1, Buffer.from('guard')), delimited(5, tensor), delimited(7, content)]);
}

const zeros = rawText(Buffer.from([1, 1]), Buffer.alloc(64 * MIB));
const bombs: [what: string, body: Buffer, ends: status, unpacked?: number][] = [
  ['64 KiB that unpack to 64 MiB', framed(gzipSync(zeros), true), status.INVALID_ARGUMENT, zeros.length],
  ['16 million empty elements', framed(zeros), status.INVALID_ARGUMENT],
  [
    '16 million empty tensors',
    framed(Buffer.alloc(32 * MIB, Buffer.from([5 * 8 + 2, 0]))),
    status.INVALID_ARGUMENT,
  ],
  [
    '32 million dimensions',
    framed(rawText(Buffer.alloc(32 * MIB, 1), Buffer.alloc(0))),
    status.INVALID_ARGUMENT,
  ],
];

it.runIf(process.platform === 'linux').each(bombs)(
  '%s are refused for what they take',
  async (what, body, ends, unpacked = body.length) => {
    const guard = await measuredGuard(TOKEN);
    const connection = new RawConnection(guard.address);
    const call = connection.call('ModelInfer', { authorization: `Bearer ${TOKEN}`, 'grpc-encoding': 'gzip' });
    call.stream.end(body);
    const ended = await call.status;
    const grown = await guard.grown();
    console.log(`${what} (${body.length} bytes): ${(grown / MIB).toFixed(0)} MiB`);
    expect(ended).toBe(ends);
    // The message as it arrived, and once more in one piece.
    expect(grown).toBeLessThan(2 * unpacked + 64 * MIB);
    await connection.close();
  },
);
