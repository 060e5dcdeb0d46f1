import type { FileHandle } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { LongAudio } from '../../config/run-config.ts';
import type { ItemError } from '../../domain/item-error.ts';
import { SAMPLE_RATE } from '../../domain/normalization.ts';
import { ByteBudget } from '../../flow/byte-budget.ts';
import {
  DECODING_ERRORS,
  type DecodeTime,
  FFMPEG_DEATHS,
  FfmpegProcesses,
  inputArguments,
  type Running,
  withFfmpeg,
} from '../ffmpeg-process.ts';
import { type AudioFormat, audioInput, CLIP_ERRORS, MAX_SECONDS, recogniseAudio } from './audio-format.ts';
import { checkTracks } from './tracks.ts';
import { type AudioWindow, WINDOW_BYTES, WindowCutter } from './window-cutter.ts';

/** How much of a clip was passed on. */
export interface NormalAudio {
  /** Seconds of audio passed on in windows; equal to `totalSeconds` if all of it was. Exact to the sample. */
  readonly windowSeconds: number;
  readonly totalSeconds: number;
}

export interface AudioOptions {
  /** For a clip longer than one window: pass on all windows, or only the first. */
  readonly long: LongAudio;
  /** Whether its tracks were read, so any pictures in it are known. By default, a file with pictures is refused. */
  readonly hasKnownTracks?: boolean;
  readonly signal: AbortSignal;
  /** Takes the windows one by one, in order. Decoding pauses until its promise is fulfilled. */
  readonly each: (window: AudioWindow) => Promise<void>;
}

export interface AudioNormalizerOptions {
  /** Max concurrent decoders; default: the number of cores. */
  readonly decoders?: number;
  /** Environment with the PATH to ffmpeg, read again for each clip; default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly time?: DecodeTime;
}

/** A core decodes a minute of sound in 0.1 s or less. A file that takes a hundred times as long was crafted to. */
const DECODE_TIME: DecodeTime = { baseMs: 30_000, perAudioSecondMs: 200, wallFactor: 20 };

/**
 * Normalizes audio clips with ffmpeg: one process per clip, for a bounded number of clips at a time. Each clip holds
 * one window of at most 9.6 MB. Starts nothing before the first clip.
 */
export class AudioNormalizer {
  readonly #room: ByteBudget;
  readonly #env: NodeJS.ProcessEnv;
  readonly #time: DecodeTime;
  readonly #processes = new FfmpegProcesses();

  constructor(options: AudioNormalizerOptions = {}) {
    const { decoders = availableParallelism(), env = process.env, time = DECODE_TIME } = options;
    this.#room = new ByteBudget(decoders * WINDOW_BYTES);
    this.#env = env;
    this.#time = time;
  }

  /**
   * Decodes a clip and passes its windows to `each`. The file is read at positions. On Linux ffmpeg opens the same file
   * again; elsewhere it shares the position of the descriptor, which must be at the beginning.
   *
   * Returns why a clip was refused. That may be known only after some windows were passed on; they are then void.
   * Whatever can be decoded of a damaged clip is judged, as a player would play it. A clip whose decoder dies is
   * decoded once more, and no window is passed on twice. Rejects with the errors of `each`, the reason of an abort, and
   * errors of reading the file; no process is left running.
   */
  async audio(
    file: FileHandle,
    { long, hasKnownTracks = false, signal, each }: AudioOptions,
  ): Promise<NormalAudio | ItemError> {
    signal.throwIfAborted();
    if ((await file.stat()).size === 0) return CLIP_ERRORS.empty;
    const format = await recogniseAudio(file);
    if (format === null) return CLIP_ERRORS.notAudio;
    const windows = long === 'truncate' ? 1 : Infinity;
    let cutter = new WindowCutter(windows);
    const running = this.#processes.prepare(file, { env: this.#env, time: this.#time, signal });
    await this.#room.enter(WINDOW_BYTES, running.signal);
    try {
      const check = hasKnownTracks ? null : checkTracks;
      let refusal = (await check?.(format, running)) ?? (await decodeClip(format, cutter, each, running));
      if (refusal !== null && FFMPEG_DEATHS.has(refusal)) {
        // The machine may cause the first death, such as by a lack of memory. The second is blamed on the clip.
        cutter = new WindowCutter(windows, cutter.made);
        refusal = (await check?.(format, running)) ?? (await decodeClip(format, cutter, each, running));
      }
      if (refusal !== null) return refusal;
    } finally {
      this.#room.leave(WINDOW_BYTES);
    }
    const rest = cutter.rest();
    if (rest !== null) await each(rest);
    return { windowSeconds: cutter.cutSeconds, totalSeconds: cutter.totalSeconds };
  }

  /** Kills all processes; clips in progress reject. May be called more than once. */
  close(): Promise<void> {
    return this.#processes.close();
  }
}

/**
 * The first audio track as 16-bit samples. The downmix must be done in 16 bits: in floating point ffmpeg does not scale
 * the sum, and stereo becomes 3 dB louder.
 */
const OUTPUT_ARGUMENTS = [
  ...['-map', '0:a:0', '-vn', '-sn', '-dn'],
  ...['-ac', '1', '-ar', String(SAMPLE_RATE), '-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1'],
];

/**
 * Decodes a clip into `cutter` and passes each full window to `each`; the cutter keeps the rest. ffmpeg waits while
 * `each` runs. Returns null if the clip was decoded to its end, otherwise the reason. Throws the errors of `each` and
 * the reason of an abort. No process is left running in any case.
 */
function decodeClip(
  format: AudioFormat,
  cutter: WindowCutter,
  each: (window: AudioWindow) => Promise<void>,
  running: Running,
): Promise<ItemError | null> {
  const args = [...['-nostdin', '-threads', '1'], ...inputArguments(audioInput(format)), ...OUTPUT_ARGUMENTS];
  return withFfmpeg(running, 'ffmpeg', args, async ({ output, wait, end }) => {
    for (;;) {
      const next = await wait(output.next(), cutter.totalSeconds);
      if (next.done) break;
      for (const window of cutter.take(next.value)) await each(window);
      if (cutter.totalSeconds > MAX_SECONDS) return CLIP_ERRORS.tooLong;
    }
    const { refusal, complained } = await end(cutter.totalSeconds);
    if (refusal !== null || cutter.totalSeconds > 0) return refusal;
    // exit status 0 and nothing decoded: an empty clip, unless ffmpeg reported a problem
    return complained ? DECODING_ERRORS.corrupt : CLIP_ERRORS.noSound;
  });
}
