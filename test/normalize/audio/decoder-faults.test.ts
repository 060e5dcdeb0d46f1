import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isRetryable, type ItemError } from '../../../src/domain/item-error.ts';
import { DECODING_ERRORS } from '../../../src/normalize/ffmpeg-process.ts';
import { findProgram } from '../../helpers/setup/debian-program.ts';
import { settled } from '../../helpers/settled.ts';
import { hear, normalizer } from './clips.ts';
import { childrenNamed, isAlive } from './processes.ts';
import { temporaryFolder } from '../../helpers/cli.ts';

const MP3 = fileURLToPath(new URL('../../fixtures/audio/layer-three.mp3', import.meta.url));
const OPUS = fileURLToPath(new URL('../../fixtures/audio/opus.opus', import.meta.url));
const QUICK = { baseMs: 300, perAudioSecondMs: 0, wallFactor: 1 };
const LENIENT = { baseMs: 300, perAudioSecondMs: 0, wallFactor: 1_000 };

/** A folder to be PATH, with ffmpeg and ffprobe in it, or with shell scripts in their place. */
async function programs(
  scripts: { readonly ffmpeg?: string; readonly ffprobe?: string } = {},
): Promise<string> {
  const path = join(await temporaryFolder(), 'bin');
  await mkdir(path);
  for (const name of ['ffmpeg', 'ffprobe'] as const) {
    const script = scripts[name];
    if (script === undefined) await symlink(findProgram(name), join(path, name));
    else {
      await writeFile(join(path, name), `#!/bin/sh\n${script}\n`);
      await chmod(join(path, name), 0o755);
    }
  }
  return path;
}

const code = (end: object): unknown => ('code' in end ? end.code : 'heard');

describe('a machine without ffmpeg', () => {
  it('says what to install, in an outcome that can be retried', async () => {
    const { end, windows } = await hear(normalizer({ env: { PATH: await temporaryFolder() } }), MP3);
    expect({ end, windows }).toEqual({ end: DECODING_ERRORS.ffmpegMissing, windows: [] });
    expect((end as ItemError).message).toContain('apt-get install ffmpeg');
    expect(isRetryable(end as ItemError)).toBe(true);
  });

  it('says so whether ffmpeg or only ffprobe is missing, may not be run, or lacks a library', async () => {
    const noProbe = await programs();
    await rm(join(noProbe, 'ffprobe'));
    const lame = await programs({ ffmpeg: 'exit 127' });
    const forbidden = await programs({ ffmpeg: '' });
    await chmod(join(forbidden, 'ffmpeg'), 0o644);
    for (const [path, clip] of [
      [noProbe, OPUS],
      [lame, MP3],
      [forbidden, MP3],
    ] as const) {
      expect((await hear(normalizer({ env: { PATH: path } }), clip)).end).toBe(DECODING_ERRORS.ffmpegMissing);
    }
  });

  it('judges again once ffmpeg is there, and stops when it disappears between two clips', async () => {
    const path = await programs();
    const by = normalizer({ env: { PATH: path } });
    expect(code((await hear(by, MP3)).end)).toBe('heard');
    await rm(join(path, 'ffmpeg'));
    expect((await hear(by, MP3)).end).toBe(DECODING_ERRORS.ffmpegMissing);
    expect((await hear(by, OPUS)).end).toBe(DECODING_ERRORS.ffmpegMissing);
    await symlink(findProgram('ffmpeg'), join(path, 'ffmpeg'));
    expect(code((await hear(by, MP3)).end)).toBe('heard');
  });
});

describe('a decoder that goes wrong', () => {
  it.each([
    ['that hangs', 'exec /bin/sleep 1000', 'TIMEOUT'],
    ['that hangs behind a script', '/bin/sleep 1000', 'TIMEOUT'],
    ['that hangs in the middle', 'head -c 100000 /dev/zero; exec /bin/sleep 1000', 'TIMEOUT'],
    ['that closes its output and hangs', 'exec >&- 2>&-; exec /bin/sleep 1000', 'TIMEOUT'],
    ['that crashes', 'kill -SEGV $$', 'CORRUPT_MEDIA'],
    ['that is killed', 'kill -KILL $$', 'INTERNAL'],
    ['that is told to stop', 'head -c 100000 /dev/zero; exit 255', 'INTERNAL'],
    ['that fails after it decoded something', 'head -c 100000 /dev/zero; exit 1', 'CORRUPT_MEDIA'],
    ['that decodes nothing and complains', 'echo oh >&2; exit 0', 'CORRUPT_MEDIA'],
    [
      'that is refused memory',
      'dd if=/dev/zero of=/dev/null bs=1500M count=1 || exit 1; head -c 64000 /dev/zero',
      'CORRUPT_MEDIA',
    ],
    ['that decodes nothing', 'exit 0', 'EMPTY_CONTENT'],
    ['that complains without end', 'head -c 30000000 /dev/zero >&2; head -c 64000 /dev/zero', 'heard'],
  ])('%s', async (_name, script, expected) => {
    const bin = await programs({ ffmpeg: `PATH=/usr/bin:/bin; export PATH\n${script}` });
    const time = expected === 'TIMEOUT' ? QUICK : { ...QUICK, baseMs: 20_000 };
    const { end, windows } = await hear(normalizer({ env: { PATH: bin }, time }), MP3);
    expect(code(end)).toBe(expected);
    expect(windows.length).toBe(expected === 'heard' ? 1 : 0);
    await settled(() => childrenNamed('sleep').length === 0);
  });

  it.each([
    ['works without end', 'while :; do :; done', 'MEDIA_TOO_LARGE'],
    ['works without end after a part', 'head -c 100000 /dev/zero; while :; do :; done', 'MEDIA_TOO_LARGE'],
    ['has to wait for its turn', '/bin/sleep 1; exec head -c 64000 /dev/zero', 'heard'],
  ])('is measured by its work, not by the clock: one that %s', async (_name, script, expected) => {
    const bin = await programs({ ffmpeg: `PATH=/usr/bin:/bin; export PATH\n${script}` });
    const { end } = await hear(normalizer({ env: { PATH: bin }, time: LENIENT }), MP3);
    expect(code(end)).toBe(expected);
    expect(isRetryable({ code: 'MEDIA_TOO_LARGE' })).toBe(false);
  });

  /** A script that runs another one, and is killed the first time. */
  const killedOnce = (then: string, first = ':'): string =>
    [
      'PATH=/usr/bin:/bin; export PATH',
      `if [ ! -e "$HOME/once" ]; then : >"$HOME/once"; ${first}; kill -KILL $$; fi`,
      then,
    ].join('\n');

  it.each([
    ['ffmpeg', MP3],
    ['ffmpeg', OPUS],
    ['ffprobe', OPUS],
  ] as const)('is given another try when %s is killed', async (program, clip) => {
    const home = await temporaryFolder();
    const bin = await programs({ [program]: killedOnce(`exec ${findProgram(program)} "$@"`) });
    const { end, windows } = await hear(normalizer({ env: { PATH: bin, HOME: home } }), clip);
    expect(code(end)).toBe('heard');
    expect(windows).toEqual((await hear(normalizer(), clip)).windows);
  });

  it('gives each window once when it is killed between two of them', async () => {
    const bin = await programs({
      ffmpeg: killedOnce('exec head -c 20000000 /dev/zero', 'head -c 10000000 /dev/zero'),
    });
    const by = normalizer({ env: { PATH: bin, HOME: await temporaryFolder() } });
    const { end, windows } = await hear(by, MP3);
    expect(end).toEqual({ windowSeconds: 625, totalSeconds: 625 });
    expect(windows.map(({ startSeconds }) => startSeconds)).toEqual([0, 300, 600]);
    const truncated = await hear(normalizer({ env: { PATH: bin, HOME: await temporaryFolder() } }), MP3, {
      long: 'truncate',
    });
    expect(truncated.end).toEqual({ windowSeconds: 300, totalSeconds: 625 });
    expect(truncated.windows).toHaveLength(1);
  });

  it('gives up on a probe that hangs, or that has no end of things to say', async () => {
    const hanging = normalizer({
      env: { PATH: await programs({ ffprobe: 'exec /bin/sleep 1000' }) },
      time: QUICK,
    });
    expect((await hear(hanging, OPUS)).end).toBe(DECODING_ERRORS.tooSlow);
    const endless = normalizer({ env: { PATH: await programs({ ffprobe: 'exec /bin/cat /dev/zero' }) } });
    expect((await hear(endless, OPUS)).end).toBe(DECODING_ERRORS.corrupt);
    expect(childrenNamed('sleep').concat(childrenNamed('cat'))).toEqual([]);
  });

  it('does not count the time that whoever takes a window needs', async () => {
    const path = await programs({ ffmpeg: 'exec /usr/bin/head -c 20000000 /dev/zero' });
    const by = normalizer({ env: { PATH: path }, time: { ...QUICK, baseMs: 5_000 } });
    const { end, windows } = await hear(by, MP3, { take: () => setTimeout(2_000) });
    expect(windows).toHaveLength(3);
    expect(end).toEqual({ windowSeconds: 625, totalSeconds: 625 });
  });
});

describe('whoever stops', () => {
  const WRITES_FOR_EVER = 'echo $$ >"$HOME/pid"; exec /bin/cat /dev/zero';

  async function endless(): Promise<{ by: ReturnType<typeof normalizer>; pid: () => Promise<number> }> {
    const home = await temporaryFolder();
    const by = normalizer({ env: { PATH: await programs({ ffmpeg: WRITES_FOR_EVER }), HOME: home } });
    return { by, pid: async () => Number(await readFile(join(home, 'pid'), 'utf8')) };
  }

  it('leaves no process behind when a clip is aborted half-way', async () => {
    const { by, pid } = await endless();
    const stop = new AbortController();
    const reason = new Error('enough');
    let windows = 0;
    const take = async (): Promise<void> => {
      if (++windows === 2) stop.abort(reason);
    };
    await expect(hear(by, MP3, { signal: stop.signal, take })).rejects.toBe(reason);
    expect(windows).toBe(2);
    expect(isAlive(await pid())).toBe(false);
  });

  it('leaves no process behind when a window is not taken', async () => {
    const { by, pid } = await endless();
    const reason = new Error('no');
    await expect(hear(by, MP3, { take: () => Promise.reject(reason) })).rejects.toBe(reason);
    expect(isAlive(await pid())).toBe(false);
  });

  it('ends everything when the normalizer is closed, also who still waits for a decoder', async () => {
    const bin = await programs({ ffmpeg: 'exec /bin/sleep 1000' });
    const by = normalizer({ decoders: 1, env: { PATH: bin } });
    const first = hear(by, MP3);
    const second = hear(by, MP3);
    const both = Promise.allSettled([first, second]);
    await settled(() => childrenNamed('sleep').length === 1);
    await by.close();
    expect(childrenNamed('sleep')).toEqual([]);
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(hear(by, MP3)).rejects.toThrow('closed');
    await by.close();
  });
});

it('gives ffmpeg nothing of the environment but where programs and libraries are', async () => {
  const home = await temporaryFolder();
  const bin = await programs({ ffmpeg: '/usr/bin/env >"$HOME/env"; /bin/cat </dev/null' });
  const env = { PATH: bin, HOME: home, GUARD_API_KEY: 'secret', FFREPORT: 'file=x' };
  await hear(normalizer({ env }), MP3);
  const seen = (await readFile(join(home, 'env'), 'utf8')).split('\n').map((line) => line.split('=')[0]);
  // the shell in the place of ffmpeg adds the rest
  expect(seen.filter((name) => !/^(?:PATH|HOME|PWD|OLDPWD|_|)$/.test(name!))).toEqual([]);
  expect(seen).toContain('PATH');
});

it('runs no more decoders side by side than it may', async () => {
  const home = await temporaryFolder();
  const script =
    'echo in >>"$HOME/log"; /usr/bin/head -c 32000 /dev/zero; /bin/sleep 0.2; echo out >>"$HOME/log"';
  const by = normalizer({ decoders: 2, env: { PATH: await programs({ ffmpeg: script }), HOME: home } });
  await Promise.all(Array.from({ length: 6 }, () => hear(by, MP3)));
  let [inside, most] = [0, 0];
  for (const line of (await readFile(join(home, 'log'), 'utf8')).trim().split('\n')) {
    inside += line === 'in' ? 1 : -1;
    most = Math.max(most, inside);
  }
  expect({ inside, most }).toEqual({ inside: 0, most: 2 });
});
