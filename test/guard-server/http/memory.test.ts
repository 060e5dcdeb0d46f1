import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { measuredGuard } from '../../helpers/guards/measured-guard.ts';

const MIB = 1024 * 1024;
const TOKEN = 'opensesame';

/** Sends a body until the server has had enough, and resolves with the status. */
async function send(address: string, body: Buffer, headers: Record<string, string>): Promise<number> {
  const sent = request(`${address}/v2/models/guard/infer`, { method: 'POST', headers, agent: false });
  // The server closes the connection of a body that it does not read.
  sent.on('error', () => {});
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.end(body);
  const [response] = await answered;
  response.resume();
  return response.statusCode!;
}

const filled = (start: string, repeated: string): Buffer => {
  const body = Buffer.alloc(64 * MIB, repeated);
  body.write(start);
  return body;
};

const input = '{"inputs":[{"name":"TEXT","datatype":"BYTES","shape":[1,1],"data":["';
const text = filled(input, '\\u0041');
text.write('"]}]}', text.length - 5);

const bodies: [what: string, body: Buffer, status: number, headers: Record<string, string>][] = [
  ['64 MiB without the token', text, 401, { authorization: 'Bearer other' }],
  ['22 million empty elements', filled('{"inputs":[{"data":[', '"",'), 400, {}],
  ['33 million dimensions', filled('{"inputs":[{"shape":[', '1,'), 400, {}],
  ['64 million nested arrays', filled('{"inputs":[{"data":[', '['), 400, {}],
  ['11 million escapes', text, 400, {}],
  ['64 KiB that unpack to 65 MiB', gzipSync(Buffer.alloc(65 * MIB)), 413, { 'content-encoding': 'gzip' }],
];

it.runIf(process.platform === 'linux')('hostile bodies take no more memory than their bytes do', async () => {
  const guard = await measuredGuard(TOKEN);
  for (const [what, body, status, headers] of bodies) {
    const given = { authorization: `Bearer ${TOKEN}`, ...headers };
    expect(await send(guard.httpAddress, body, given), what).toBe(status);
    const grown = await guard.grown();
    console.log(`${what} (${body.length} bytes): ${(grown / MIB).toFixed(0)} MiB at most so far`);
    // Twice what open calls may hold, 256 MiB: as it arrived, and once more in one piece.
    expect(grown).toBeLessThan(status === 401 ? 32 * MIB : 512 * MIB);
  }
});

it.runIf(process.platform === 'linux')(
  'bytes that arrive one by one take no more memory than others',
  async () => {
    const guard = await measuredGuard(TOKEN);
    const { hostname, port } = new URL(guard.httpAddress);
    const socket = connect(Number(port), hostname);
    const headers = ['host: localhost', `authorization: Bearer ${TOKEN}`, 'transfer-encoding: chunked'];
    socket.write(`POST /v2/models/guard/infer HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
    socket.end(`${'1\r\na\r\n'.repeat(600_000)}0\r\n\r\n`);
    const [reply] = (await once(socket, 'data')) as [Buffer];
    expect(reply.toString()).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
    const grown = await guard.grown();
    console.log(`600,000 chunks of one byte: ${(grown / MIB).toFixed(0)} MiB`);
    expect(grown).toBeLessThan(96 * MIB);
  },
);
