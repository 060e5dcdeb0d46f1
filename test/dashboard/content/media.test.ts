import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { GuardRequest } from '../../../src/domain/request.ts';
import { RATE, wavFile } from '../../helpers/wav.ts';
import { drawn } from '../../helpers/pictures.ts';
import { jsonLines } from '../../helpers/run-directory.ts';
import { askAbout } from './asking.ts';
import { ALLOWED, HATEFUL } from '../../helpers/judged-run.ts';

/** A WAV file of silence with one loud stretch, in seconds. */
const clip = (seconds: number, loudFrom: number): Buffer =>
  wavFile(seconds * RATE, (at) => (at < loudFrom * RATE ? 0 : 16_384));

const solid = (colour: string) =>
  sharp({ create: { width: 60, height: 40, channels: 3, background: colour } });

describe('the media of an item', () => {
  test('are a picture of our own encoding, scaled down, with the caption', async () => {
    const secret = { IFD0: { Copyright: 'SECRET PLACE' } };
    const original = await drawn(1700, 850).jpeg().withExif(secret).toBuffer();
    const small = await drawn(30, 20).png().toBuffer();
    const url = `data:image/png;base64,${small.toString('base64')}`;
    const content = [{ type: 'image_url', image_url: { url } }];
    const { run, asking } = await askAbout({
      'a.jpg': original,
      'a.txt': 'a caption',
      'c.csv': 'id,text\n1,a text\n',
      'b.jsonl': `${JSON.stringify({ messages: [{ role: 'user', content }] })}\n`,
    });
    const whole = { kind: 'image', width: 1600, height: 800, caption: 'a caption' };
    expect(await asking.content(0)).toEqual(whole);
    const response = await asking.ask(0, 'media');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': 'inline; filename="item.png"',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    const png = Buffer.from(await response.arrayBuffer());
    expect(await sharp(png).metadata()).toMatchObject({ format: 'png', width: 1600, height: 800 });
    expect(png.includes('SECRET PLACE')).toBe(false);
    const embedded = run.lines.find(({ modality, source }) => modality === 'image' && source.row === 1)!;
    const inside = { kind: 'image', width: 30, height: 20, caption: null };
    expect(await asking.content(embedded.seq)).toEqual(inside);
    expect(await asking.reasons(embedded.seq)).toEqual(['image', 'media']);
    expect(await asking.reasons(run.lines.at(-1)!.seq)).toEqual(['text', 'not_readable']);
    expect((await jsonLines(asking.log)).slice(0, 2)).toMatchObject(
      ['content', 'media'].map((kind) => ({ seq: 0, kind })),
    );
  });

  test('have thumbnails: blurred ones, which are no reveal, and clear ones on request, which are', async () => {
    const { asking } = await askAbout({
      '0016.png': await drawn(16, 8).png().toBuffer(),
      '0300.png': await drawn(300, 150).png().toBuffer(),
      '0640.png': await drawn(640, 320).png().toBuffer(),
      'clip.wav': clip(1, 0),
      'text.txt': 'a text',
    });
    const sizeOf = async (seq: number, body: object): Promise<string> => {
      const response = await asking.ask(seq, 'thumbnail', body);
      expect(response.headers.get('content-type')).toBe('image/png');
      const { width, height } = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
      return `${width} × ${height}`;
    };
    // Small images are scaled down as well: nothing is as it was.
    for (const [seq, size] of ['2 × 1', '12 × 6', '12 × 6'].entries())
      expect(await sizeOf(seq, {})).toBe(size);
    for (const seq of [3, 4]) expect((await asking.ask(seq, 'thumbnail')).status).toBe(409);
    expect(existsSync(asking.log)).toBe(false);
    const clear = { revealed: true };
    for (const [seq, size] of ['16 × 8', '300 × 150', '320 × 160'].entries())
      expect(await sizeOf(seq, clear)).toBe(size);
    expect(await sizeOf(2, {})).toBe('12 × 6');
    expect(await jsonLines(asking.log)).toMatchObject([0, 1, 2].map((seq) => ({ seq, kind: 'media' })));
    expect((await asking.ask(0, 'thumbnail', { revealed: 'yes' })).status).toBe(400);
  });

  test('are the frame or the window of a clip that decided, the latter with its peaks', async () => {
    const frames = await Promise.all(['red', 'lime', 'blue'].map((colour) => solid(colour).png().toBuffer()));
    const moving = sharp(frames, { join: { animated: true } }).gif();
    const lime = await solid('lime').png().toBuffer();
    const isLime = async (png: Buffer): Promise<boolean> =>
      (await sharp(png).raw().toBuffer()).equals(await sharp(lime).raw().toBuffer());
    let images = 0;
    const decides = (request: GuardRequest): boolean =>
      request.modality === 'audio' ? request.audio.length < 1_000_000 : images++ === 1;
    const verdictOn = (request: GuardRequest) => (decides(request) ? HATEFUL : ALLOWED);
    const files = { 'a.gif': await moving.toBuffer(), 'b.wav': clip(310, 305) };
    const { run, asking } = await askAbout(files, { verdictOn });
    expect(run.lines[0]!.coverage).toMatchObject({ unit: 'frames', worst_at: 1 });
    const frame = await asking.ask(0, 'media');
    expect(await isLime(Buffer.from(await frame.arrayBuffer()))).toBe(true);
    expect(await asking.content(1)).toEqual({
      kind: 'audio',
      seconds: 10,
      worst_at: 300,
      clip_seconds: 310,
      transcript: null,
      peaks: [...new Array<number>(300).fill(0), ...new Array<number>(300).fill(0.5)],
    });
    const window = await asking.ask(1, 'media');
    expect(window.headers.get('content-type')).toBe('audio/wav');
    const wav = Buffer.from(await window.arrayBuffer());
    expect(wav.length).toBe(44 + 10 * RATE * 2);
    expect(wav.subarray(0, 4).toString()).toBe('RIFF');
  });

  test('that have changed, or whose decoder is killed, are not shown; the next ones are', async () => {
    const { path, asking } = await askAbout({
      'a.png': await drawn(20, 20).png().toBuffer(),
      'b.png': await drawn(21, 21).png().toBuffer(),
      'c.png': await drawn(22, 22).png().toBuffer(),
    });
    await writeFile(join(path, 'c.png'), await drawn(20, 21).png().toBuffer());
    expect(await asking.reasons(2)).toEqual(['source_changed', 'source_changed']);
    const kill = (message: unknown): void => {
      const started = (message as { process: ChildProcess }).process;
      setImmediate(() => started.kill('SIGKILL'));
    };
    subscribe('child_process', kill);
    onTestFinished(() => void unsubscribe('child_process', kill));
    expect(await asking.content(0)).toMatchObject({ kind: 'unavailable', reason: 'decoding_failed' });
    unsubscribe('child_process', kill);
    expect(await asking.reasons(1)).toEqual(['image', 'media']);
  });
});
