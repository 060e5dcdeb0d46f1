import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import type { LongAudio } from '../../../src/config/run-config.ts';
import type { ItemError } from '../../../src/domain/item-error.ts';
import {
  AudioNormalizer,
  type AudioNormalizerOptions,
  type NormalAudio,
} from '../../../src/normalize/audio/audio-normalizer.ts';
import type { AudioWindow } from '../../../src/normalize/audio/window-cutter.ts';
import { WAV_HEADER_BYTES } from '../../helpers/wav.ts';

const RATE = 16_000;

/** A normalizer that ends with the test. */
export function normalizer(options: AudioNormalizerOptions = {}): AudioNormalizer {
  const opened = new AudioNormalizer(options);
  onTestFinished(() => opened.close());
  return opened;
}

export interface Heard {
  readonly end: NormalAudio | ItemError;
  readonly windows: readonly AudioWindow[];
}

/** Has a clip brought into normal form, and keeps all of it; `take` is called with each window as it comes. */
export async function hear(
  by: Pick<AudioNormalizer, 'audio'>,
  path: string,
  options: {
    readonly long?: LongAudio;
    readonly signal?: AbortSignal;
    readonly take?: () => Promise<void>;
  } = {},
): Promise<Heard> {
  const windows: AudioWindow[] = [];
  const { long = 'windows', signal = new AbortController().signal } = options;
  const each = async (window: AudioWindow): Promise<void> => {
    windows.push(window);
    await options.take?.();
  };
  const file = await open(path);
  const end = await by.audio(file, { long, signal, each }).finally(() => file.close());
  return { end, windows };
}

/** The samples of windows, one after another. */
export function samples(windows: readonly AudioWindow[]): Buffer {
  return Buffer.concat(windows.map(({ wav }) => wav.subarray(WAV_HEADER_BYTES)));
}

/** What ffmpeg makes of a file by its own lights, as 16 kHz mono samples of 16 bits. */
export function decodedByFfmpeg(path: string): Buffer {
  const args = ['-loglevel', 'quiet', '-i', path, '-map', '0:a:0', '-ac', '1', '-ar', String(RATE)];
  return execFileSync('ffmpeg', [...args, '-f', 's16le', '-'], { maxBuffer: 1 << 30 });
}

/** The share of a signal's energy that is at one frequency, 0 … 1. */
export function toneShare(pcm: Buffer, hertz: number): number {
  let [real, imaginary, energy] = [0, 0, 0];
  const count = pcm.length / 2;
  for (let index = 0; index < count; index++) {
    const sample = pcm.readInt16LE(index * 2);
    const angle = (2 * Math.PI * hertz * index) / RATE;
    real += sample * Math.cos(angle);
    imaginary += sample * Math.sin(angle);
    energy += sample * sample;
  }
  return (2 * (real * real + imaginary * imaginary)) / (count * energy);
}
