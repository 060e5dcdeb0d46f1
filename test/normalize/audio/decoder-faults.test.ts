import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isRetryable, type ItemError } from '../../../src/domain/item-error.ts';
import { DECODING_ERRORS } from '../../../src/normalize/ffmpeg-process.ts';
import type { AudioNormalizerOptions } from '../../../src/normalize/audio/audio-normalizer.ts';
import { findProgram } from '../../helpers/setup/debian-program.ts';
import { settled } from '../../helpers/settled.ts';
import { hear, normalizer } from './clips.ts';
import { childrenNamed, isAlive } from './processes.ts';
import { temporaryFolder } from '../../helpers/cli.ts';

const MP3 = fileURLToPath(new URL('../../fixtures/audio/layer-three.mp3', import.meta.url));
const OPUS = fileURLToPath(new URL('../../fixtures/audio/opus.opus', import.meta.url));
const QUICK = { baseMs: 300, perAudioSecondMs: 0, wallFactor: 1 };
const LENIENT = { baseMs: 300, perAudioSecondMs: 0, wallFactor: 1_000 };

type Scripts = { readonly ffmpeg?: string; readonly ffprobe?: string };

/** A folder to be PATH, with ffmpeg and ffprobe in it, or with shell scripts in their place. */
async function programs(scripts: Scripts = {}): Promise<string> {
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

/** A normalizer with such scripts, and the folder that is their HOME. */
async function scripted(scripts: Scripts, options: AudioNormalizerOptions = {}) {
  const home = await temporaryFolder();
  const env = { PATH: await programs(scripts), HOME: home };
  return { home, by: normalizer({ env, ...options }) };
}

const WITH_TOOLS = 'PATH=/usr/bin:/bin; export PATH\n';

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
    const forbidden = await programs({ ffmpeg: '' });
    await chmod(join(forbidden, 'ffmpeg'), 0o644);
    const end = async (path: string, clip: string) =>
      (await hear(normalizer({ env: { PATH: path } }), clip)).end;
    expect(await end(noProbe, OPUS)).toBe(DECODING_ERRORS.ffmpegMissing);
    expect(await end(await programs({ ffmpeg: 'exit 127' }), MP3)).toBe(DECODING_ERRORS.ffmpegMissing);
    expect(await end(forbidden, MP3)).toBe(DECODING_ERRORS.ffmpegMissing);
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
    const time = expected === 'TIMEOUT' ? QUICK : { ...QUICK, baseMs: 120_000 };
    const { by } = await scripted({ ffmpeg: WITH_TOOLS + script }, { time });
    const { end, windows } = await hear(by, MP3);
    expect(code(end)).toBe(expected);
    expect(windows.length).toBe(expected === 'heard' ? 1 : 0);
    await settled(() => childrenNamed('sleep').length === 0);
  });

  it.each([
    ['works without end, after a part', 'head -c 100000 /dev/zero; while :; do :; done', 'MEDIA_TOO_LARGE'],
    ['has to wait for its turn', '/bin/sleep 1; exec head -c 64000 /dev/zero', 'heard'],
  ])('is measured by its work, not by the clock: one that %s', async (_name, script, expected) => {
    const { by } = await scripted({ ffmpeg: WITH_TOOLS + script }, { time: LENIENT });
    expect(code((await hear(by, MP3)).end)).toBe(expected);
    expect(isRetryable({ code: 'MEDIA_TOO_LARGE' })).toBe(false);
  });

  /** A script that runs another one, and is killed the first time. */
  const killedOnce = (then: string, first = ':'): string =>
    `${WITH_TOOLS}if [ ! -e "$HOME/once" ]; then : >"$HOME/once"; ${first}; kill -KILL $$; fi\n${then}`;

  it('is given another try when ffmpeg or ffprobe is killed', async () => {
    const expected = await hear(normalizer(), OPUS);
    expect(code(expected.end)).toBe('heard');
    for (const program of ['ffmpeg', 'ffprobe'] as const) {
      const { by } = await scripted({ [program]: killedOnce(`exec ${findProgram(program)} "$@"`) });
      expect(await hear(by, OPUS)).toEqual(expected);
    }
  });

  it('gives each window once when it is killed between two of them', async () => {
    const ffmpeg = killedOnce('exec head -c 20000000 /dev/zero', 'head -c 10000000 /dev/zero');
    const { end, windows } = await hear((await scripted({ ffmpeg })).by, MP3);
    expect(end).toEqual({ windowSeconds: 625, totalSeconds: 625 });
    expect(windows.map(({ startSeconds }) => startSeconds)).toEqual([0, 300, 600]);
    const truncated = await hear((await scripted({ ffmpeg })).by, MP3, { long: 'truncate' });
    expect(truncated.end).toEqual({ windowSeconds: 300, totalSeconds: 625 });
    expect(truncated.windows).toHaveLength(1);
  });

  it('gives up on a probe that hangs, or that has no end of things to say', async () => {
    const hanging = await scripted({ ffprobe: 'exec /bin/sleep 1000' }, { time: QUICK });
    expect((await hear(hanging.by, OPUS)).end).toBe(DECODING_ERRORS.tooSlow);
    const endless = await scripted({ ffprobe: 'exec /bin/cat /dev/zero' });
    expect((await hear(endless.by, OPUS)).end).toBe(DECODING_ERRORS.corrupt);
    expect(childrenNamed('sleep').concat(childrenNamed('cat'))).toEqual([]);
  });

  it('does not count the time that whoever takes a window needs', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const time = { ...QUICK, baseMs: 60_000 };
    // The time is looked at where ffmpeg takes its time.
    const ffmpeg = `${WITH_TOOLS}for part in 1 2; do head -c 10000000 /dev/zero; sleep 0.2; done`;
    const { by } = await scripted({ ffmpeg }, { time });
    const { end, windows } = await hear(by, MP3, { take: async () => void vi.advanceTimersByTime(90_000) });
    expect(windows).toHaveLength(3);
    expect(end).toEqual({ windowSeconds: 625, totalSeconds: 625 });
  });
});

describe('whoever stops', () => {
  const WRITES_FOR_EVER = 'echo $$ >"$HOME/pid"; exec /bin/cat /dev/zero';

  const endless = () => scripted({ ffmpeg: WRITES_FOR_EVER });
  const isWriting = async (home: string) => isAlive(Number(await readFile(join(home, 'pid'), 'utf8')));

  it('leaves no process behind when a clip is aborted half-way', async () => {
    const { by, home } = await endless();
    const stop = new AbortController();
    const reason = new Error('enough');
    let windows = 0;
    const take = async (): Promise<void> => {
      if (++windows === 2) stop.abort(reason);
    };
    await expect(hear(by, MP3, { signal: stop.signal, take })).rejects.toBe(reason);
    expect(windows).toBe(2);
    expect(await isWriting(home)).toBe(false);
  });

  it('leaves no process behind when a window is not taken', async () => {
    const { by, home } = await endless();
    const reason = new Error('no');
    await expect(hear(by, MP3, { take: () => Promise.reject(reason) })).rejects.toBe(reason);
    expect(await isWriting(home)).toBe(false);
  });

  it('ends everything when the normalizer is closed, also who still waits for a decoder', async () => {
    const { by } = await scripted({ ffmpeg: 'exec /bin/sleep 1000' }, { decoders: 1 });
    const both = Promise.allSettled([hear(by, MP3), hear(by, MP3)]);
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
  // Each waits until a second one has come in, and then for a third, which may not come.
  const ffmpeg = `${WITH_TOOLS}echo in >>"$HOME/log"
until [ "$(grep -c in "$HOME/log")" -ge 2 ]; do sleep 0.05; done
sleep 0.2; head -c 32000 /dev/zero; echo out >>"$HOME/log"`;
  const { by, home } = await scripted({ ffmpeg }, { decoders: 2 });
  await Promise.all(Array.from({ length: 6 }, () => hear(by, MP3)));
  let [inside, most] = [0, 0];
  for (const line of (await readFile(join(home, 'log'), 'utf8')).trim().split('\n')) {
    inside += line === 'in' ? 1 : -1;
    most = Math.max(most, inside);
  }
  expect({ inside, most }).toEqual({ inside: 0, most: 2 });
});
