import { mkdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { zipSync } from 'fflate';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Cli, guardsweep, printedRun, temporaryFolder, writeFiles } from '../helpers/cli.ts';
import { valuesOf } from '../helpers/guards/fake-contract.ts';
import { type KserveServer, type Reply, startKserveServer } from '../helpers/guards/kserve-server.ts';
import { comparable, onlyRun, outcomes, until } from '../helpers/run-directory.ts';
import { WAV_HEADER_BYTES } from '../helpers/wav.ts';
import { makeFilm } from '../normalize/video/videos.ts';

/** A guard to which white pictures and loud sounds are hostile; `each` is called before a verdict. */
function guard(each: () => void = () => {}): Promise<KserveServer> {
  return startKserveServer({
    maxMessageBytes: 64 * 1024 * 1024,
    script: async ([content]) => {
      each();
      const score = (await isHostile(Buffer.from(content!, 'base64'))) ? 0.9 : 0.1;
      return { reply: (ordinary) => scored(ordinary, score) };
    },
  });
}

async function isHostile(bytes: Buffer): Promise<boolean> {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF') {
    const stats = await sharp(bytes)
      .stats()
      .catch(() => null);
    return stats !== null && stats.channels[0]!.mean > 128;
  }
  for (let at = WAV_HEADER_BYTES; at < bytes.length; at += 2) {
    if (Math.abs(bytes.readInt16LE(at)) > 500) return true;
  }
  return false;
}

function scored(ordinary: Reply, score: number): Reply {
  const values = valuesOf([score]);
  return {
    ...ordinary,
    outputs: ordinary.outputs.map((output) => ({
      ...output,
      contents: { [Object.keys(output.contents!)[0]!]: values[output.name] as number[] },
    })),
  };
}

const enqueue = (address: string, folder: string, ...more: string[]) => [
  ...['enqueue', join(folder, 'films'), '--guard', address, '--canaries', 'off', '--no-report'],
  ...['--out', join(folder, 'runs'), ...more],
];

async function judge(address: string, folder: string, ...more: string[]): Promise<Map<string, OutcomeLine>> {
  const done = await guardsweep(enqueue(address, folder, ...more));
  const run = printedRun(done);
  expect(await verifyRun(run, {}), done.stderr).toMatchObject({ ok: true });
  return new Map((await outcomes(run)).map((line) => [line.part ?? basename(line.source.path), line]));
}

async function filmFolder() {
  const folder = await temporaryFolder();
  const films = join(folder, 'films');
  await mkdir(films);
  return { folder, films };
}

const QUIET = ['-af', 'volume=0'];
/** Silent until 302 s. */
const LOUD_LATE = ['-af', "volume=0:enable='lt(t,302)'"];

it('finds what is hostile in the pictures or the sound of a video, and says where', async () => {
  const { folder, films } = await filmFolder();
  makeFilm(films, 'quiet.mp4', { seconds: 12, sound: true, args: QUIET });
  makeFilm(films, 'middle.mkv', { seconds: 12, white: [3.5, 4.5], sound: true, args: QUIET });
  makeFilm(films, 'end.mp4', { seconds: 12, white: [11.85, 13] });
  makeFilm(films, 'loud.avi', { seconds: 310, sound: true, args: LOUD_LATE });
  const bytes = await readFile(makeFilm(films, 'inside.mp4', { seconds: 6, white: [5.85, 7] }));
  const inner = zipSync({ 'inside.mp4': bytes });
  await writeFiles(films, {
    'box.zip': Buffer.from(zipSync({ 'inner.zip': inner })),
    'broken.mp4': bytes.subarray(0, 1000),
    'empty.mp4': '',
  });
  const { address } = await guard();
  const lines = await judge(address, folder, '--video-interval', '5', '--video-frames', '8');
  const told = Object.fromEntries(
    [...lines].map(([name, { decision, error, coverage }]) => [
      name,
      [error?.code ?? decision, coverage?.worst_at ?? null],
    ]),
  );
  expect(told).toEqual({
    'quiet.mp4': ['allow', 0],
    'middle.mkv': ['block', expect.closeTo(4, 0)],
    'end.mp4': ['block', expect.closeTo(11.9, 1)],
    'loud.avi': ['block', 300],
    'inside.mp4': ['block', expect.closeTo(5.9, 1)],
    'inner.zip/inside.mp4': ['block', expect.closeTo(5.9, 1)],
    'broken.mp4': ['CORRUPT_MEDIA', null],
    'empty.mp4': ['EMPTY_CONTENT', null],
  });
  const end = lines.get('end.mp4')!;
  expect(end.coverage).toMatchObject({ unit: 'seconds', judged: end.coverage!.total });
  expect(end.coverage!.total).toBeCloseTo(12, 1);
  // Eight frames stand for 40 of 310 seconds, and the rest was not seen.
  const total = expect.closeTo(310, 0) as number;
  expect(lines.get('loud.avi')!.coverage).toMatchObject({ judged: 40, total });
});

it('is judged alike by a run that was killed', async () => {
  const { folder, films } = await filmFolder();
  for (const name of ['a', 'b', 'c']) {
    makeFilm(films, `${name}.mp4`, { seconds: 12, white: name === 'b' ? [11.85, 13] : [-1, -1] });
  }
  let requests = 0;
  const { address } = await guard(() => requests++);
  const cli = new Cli(enqueue(address, folder, '--quiet'));
  await until(async () => requests >= 4, '4 requests');
  cli.kill('SIGKILL');
  await cli.finished();
  const run = await onlyRun(join(folder, 'runs'));
  await guardsweep(['resume', run, '--no-report']);
  const lines = await outcomes(run);
  expect(lines.map(({ decision }) => decision)).toEqual(['allow', 'block', 'allow']);
  const undisturbed = await judge(address, folder, '--out', join(folder, 'others'));
  expect(comparable(lines)).toEqual(comparable([...undisturbed.values()]));
});
