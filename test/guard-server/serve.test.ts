import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { beforeEach, expect, it } from 'vitest';
import { status } from '@grpc/grpc-js';
import { serveGuard, type ServeOptions } from '../../src/guard-server/serve.ts';
import { startGuardServer } from '../../src/guard-server/server.ts';
import { LineWriter } from '../../src/terminal/line-writer.ts';
import { promptInputs, TestClient } from '../helpers/guards/guard-client.ts';
import { temporaryFolder } from '../helpers/cli.ts';

let folder: string;
/** Ends the server: it drains. */
let stop: AbortController;
let stdout: PassThrough;

beforeEach(async () => {
  folder = await temporaryFolder();
  stop = new AbortController();
  stdout = new PassThrough({ encoding: 'utf8' });
});

const line = async (): Promise<string> => ((await once(stdout, 'data')) as [string])[0].trimEnd();

const serve = (options: Partial<ServeOptions> = {}): Promise<void> =>
  serveGuard(
    { model: 'synthetic', host: '127.0.0.1', grpcPort: 0, httpPort: 0, metricsPort: 0, ...options },
    { drain: stop.signal, stop: new AbortController().signal },
    new LineWriter(stdout),
  );

it('says where it listens and serves until it is told to stop (C-109)', async () => {
  const served = serve();
  const said = /^guard listening on (grpc\S+) and (http\S+) \(model synthetic, demonstration\)$/;
  const [, address, httpAddress] = said.exec(await line())!;
  expect(address).toMatch(/^grpc:\/\/127\.0\.0\.1:\d+$/);
  const client = new TestClient(address!);
  expect(await client.call('ServerReady', {})).toEqual({ ready: true });
  expect((await fetch(`${httpAddress!}/v2/health/ready`)).status).toBe(200);
  stop.abort();
  await served;
  await expect(fetch(httpAddress!)).rejects.toThrow('fetch failed');
  await expect(client.call('ServerReady', {})).rejects.toMatchObject({ code: status.UNAVAILABLE });
  client.close();
});

it('does not listen for others without a token (C-505)', async () => {
  await expect(serve({ host: '0.0.0.0' })).rejects.toMatchObject({ kind: 'usage' });
  await expect(serve({ host: '0.0.0.0', token: '' })).rejects.toMatchObject({ kind: 'usage' });
});

it('serves metrics to those who have the token, and no others', async () => {
  const said: string[] = [];
  stdout.on('data', (line: string) => said.push(line));
  const served = serve({ token: 'opensesame' });
  await expect.poll(() => said.length).toBe(2);
  const url = /^metrics at (http:\/\/127\.0\.0\.1:\d+\/metrics)\n$/.exec(said[1]!)![1]!;
  expect((await fetch(url)).status).toBe(401);
  const reply = await fetch(url, { headers: { authorization: 'Bearer opensesame' } });
  expect(await reply.text()).toContain('nv_inference_request_success{model="guard",version="1"} 0');
  stop.abort();
  await served;
  await expect(fetch(url)).rejects.toThrow();
});

it('says that a port is taken', async () => {
  const other = await startGuardServer({ model: 'synthetic', grpcPort: 0, httpPort: 0 });
  const grpcPort = Number(new URL(other.address).port);
  const httpPort = Number(new URL(other.httpAddress!).port);
  for (const taken of [{ grpcPort }, { httpPort }, { metricsPort: grpcPort }]) {
    await expect(serve(taken)).rejects.toMatchObject({ kind: 'usage' });
  }
  await other.close();
});

it('reads a fault script, and reads it again on SIGHUP', async () => {
  const faults = join(folder, 'faults.json');
  await writeFile(faults, '{"faults":[{"kind":"overload"}]}');
  const served = serve({ faults });
  const client = new TestClient((await line()).split(' ')[3]!);
  const judge = () => client.infer({ tensors: promptInputs(['a']) });
  await expect(judge()).rejects.toMatchObject({ code: status.UNAVAILABLE });
  await writeFile(faults, '{"faults":"none"}');
  process.emit('SIGHUP');
  expect(await line()).toMatch(/^fault script unchanged: /);
  await expect(judge()).rejects.toMatchObject({ code: status.UNAVAILABLE });
  await writeFile(faults, '{"faults":[]}');
  process.emit('SIGHUP');
  expect(await line()).toBe('fault script reloaded');
  expect((await judge()).outputs).toHaveLength(5);
  stop.abort();
  await served;
  client.close();
});

it('refuses a fault script that is wrong, or for a model that has no faults', async () => {
  const faults = join(folder, 'faults.json');
  await expect(serve({ faults })).rejects.toMatchObject({ kind: 'usage' });
  await writeFile(faults, 'nonsense');
  await expect(serve({ faults })).rejects.toMatchObject({ kind: 'usage' });
  await writeFile(faults, '{"faults":[]}');
  await expect(serve({ faults, model: 'lite' })).rejects.toMatchObject({ kind: 'usage' });
});
