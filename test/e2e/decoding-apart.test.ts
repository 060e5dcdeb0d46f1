import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Cli, guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { column, output, TestClient } from '../helpers/guards/guard-client.ts';
import { drawn } from '../helpers/pictures.ts';
import { settled } from '../helpers/settled.ts';

const PRELOAD = new URL('../helpers/preload/loaded-libraries.mjs', import.meta.url).href;

/** Small enough to be in normal form already, and so to be sent as it is. */
const photo = drawn(300, 200).jpeg();

async function observed() {
  const folder = await temporaryFolder();
  const file = join(folder, 'loaded');
  const env = { NODE_OPTIONS: `--import=${PRELOAD}`, LIBRARIES_FILE: file };
  /** Of the threads of the main process, which must have ended: what each had loaded. */
  const loaded = async () => [...new Set((await readFile(file, 'utf8')).split(/\s/))].filter(Boolean);
  return { folder, env, loaded };
}

it('judges an image with the embedded guard without loading a decoder of its own', async () => {
  const { folder, env, loaded } = await observed();
  const image = join(folder, 'photo.jpg');
  await photo.toFile(image);
  const { status } = await guardsweep(['enqueue', image, '--out', join(folder, 'runs')], { env });
  expect(status).toBe(0);
  expect(await loaded()).toEqual(['none']);
});

it('serves a guard to others without loading a decoder of its own', async () => {
  const { env, loaded } = await observed();
  const cli = new Cli(['guard', '--grpc-port', '0', '--http-port', '0', '--metrics-port', '0'], { env });
  await settled(() => cli.stdout.includes('listening on'));
  const client = new TestClient(/grpc:\/\/\S+/.exec(cli.stdout)![0]);
  const bytes = await photo.toBuffer();
  const tensors = [column('MODALITY', ['image']), column('IMAGE', [bytes.toString('base64')])];
  const reply = await client.infer({ tensors }, { deadlineMs: 50_000 });
  expect(output(reply, 'SCORE')[0]).toBeGreaterThan(0);
  client.close();
  cli.kill('SIGTERM');
  await cli.finished();
  expect(await loaded()).toEqual(['none']);
});
