import type { FileHandle } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { LongAudio } from '../../config/run-config.ts';
import type { ItemError } from '../../domain/item-error.ts';
import { SAMPLE_RATE } from '../../domain/normalization.ts';
import { ByteBudget } from '../../flow/byte-budget.ts';
import { type Container, MANY_TRACKS, recogniseContainer } from './container.ts';
import {
  DECODE_TIME,
  type DecodeTime,
  type FfmpegProcess,
  inputArguments,
  type Running,
  startFfmpeg,
  withFfmpeg,
} from './ffmpeg-process.ts';
import { DEATHS, MAX_SECONDS, REFUSALS } from './refusals.ts';
import { refusalByTracks } from './tracks.ts';
import { type AudioWindow, WINDOW_BYTES, WindowCutter } from './window-cutter.ts';

/** Seconds of a clip that were passed on, and its length, both exact to the sample. Equal if all of it was. */
export interface NormalAudio {
  readonly windowSeconds: number;
  readonly totalSeconds: number;
}

export interface AudioOptions {
  /** For a clip longer than one window: pass on all windows, or only the first. */
  readonly long: LongAudio;
  readonly signal: AbortSignal;
  /** Takes the windows one by one, in order. Decoding pauses until its promise is fulfilled. */
  readonly each: (window: AudioWindow) => Promise<void>;
}

export interface AudioNormalizerOptions {
  /** Decoders that may run at a time; default: the number of cores. */
  readonly decoders?: number;
  /** Environment that PATH is read from, anew for each clip; default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly time?: DecodeTime;
}

/**
 * Brings clips into normal form with ffmpeg: one process per clip, for a bounded number of clips at a time. Each clip
 * holds one window of at most 9.6 MB. Starts nothing before the first clip.
 */
export class AudioNormalizer {
  readonly #room: ByteBudget;
  readonly #env: NodeJS.ProcessEnv;
  readonly #time: DecodeTime;
  readonly #closing = new AbortController();
  readonly #processes = new Set<FfmpegProcess>();

  constructor(options: AudioNormalizerOptions = {}) {
    const { decoders = availableParallelism(), env = process.env, time = DECODE_TIME } = options;
    this.#room = new ByteBudget(decoders * WINDOW_BYTES);
    this.#env = env;
    this.#time = time;
  }

  /**
   * Decodes a clip and passes its windows to `each`. The file is read at positions. On Linux ffmpeg opens the same file
   * anew; elsewhere it shares the position of the descriptor, which must be at the beginning.
   *
   * Returns why a clip was refused. That may be known only after some windows were passed on; they are void then.
   * Whatever of a damaged clip can be decoded is judged, as a player would play it. A clip whose decoder dies is decoded
   * once more, and no window is passed on twice. Rejects with what `each` rejects with, the reason of an abort, and errors
   * of reading the file; no process is left running.
   */
  async audio(file: FileHandle, { long, signal, each }: AudioOptions): Promise<NormalAudio | ItemError> {
    signal.throwIfAborted();
    if ((await file.stat()).size === 0) return REFUSALS.empty;
    const container = await recogniseContainer(file);
    if (container === null) return REFUSALS.notAudio;
    const windows = long === 'truncate' ? 1 : Infinity;
    let cutter = new WindowCutter(windows);
    const running: Running = {
      start: (program, args) => this.#start(program, args, file),
      time: this.#time,
      signal: AbortSignal.any([signal, this.#closing.signal]),
    };
    await this.#room.enter(WINDOW_BYTES, running.signal);
    try {
      let refusal = await decode(container, cutter, each, running);
      if (refusal !== null && DEATHS.has(refusal)) {
        // The first death may be the machine's fault, such as a lack of memory. A second one is the clip's.
        cutter = new WindowCutter(windows, cutter.made);
        refusal = await decode(container, cutter, each, running);
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
  async close(): Promise<void> {
    this.#closing.abort(new Error('the normalizer was closed'));
    await Promise.all([...this.#processes].map(({ ended }) => ended));
  }

  #start(program: 'ffmpeg' | 'ffprobe', args: readonly string[], file: FileHandle): FfmpegProcess {
    const started = startFfmpeg(program, args, { file, env: this.#env });
    this.#processes.add(started);
    void started.ended.then(() => this.#processes.delete(started));
    return started;
  }
}

/** Decodes a clip into `cutter`, after checking the tracks of containers that may have several. Null if it succeeded. */
async function decode(
  container: Container,
  cutter: WindowCutter,
  each: AudioOptions['each'],
  running: Running,
): Promise<ItemError | null> {
  const refusal = MANY_TRACKS.has(container) ? await refusalByTracks(container, running) : null;
  return refusal ?? decodeClip(container, cutter, each, running);
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
 * `each` runs. Returns null if the clip was decoded to its end, else why not. Throws what `each` throws and the reason of
 * an abort. No process is left running in any case.
 */
function decodeClip(
  container: Container,
  cutter: WindowCutter,
  each: (window: AudioWindow) => Promise<void>,
  running: Running,
): Promise<ItemError | null> {
  const args = [...['-nostdin', '-threads', '1'], ...inputArguments(container), ...OUTPUT_ARGUMENTS];
  return withFfmpeg(running, 'ffmpeg', args, async ({ output, wait, end }) => {
    for (;;) {
      const next = await wait(output.next(), cutter.totalSeconds);
      if (next.done) break;
      for (const window of cutter.take(next.value)) await each(window);
      if (cutter.totalSeconds > MAX_SECONDS) return REFUSALS.tooLong;
    }
    const { refusal, complained } = await end(cutter.totalSeconds);
    if (refusal !== null || cutter.totalSeconds > 0) return refusal;
    // exit status 0 and nothing decoded: an empty clip, unless ffmpeg reported a problem
    return complained ? REFUSALS.corrupt : REFUSALS.noSound;
  });
}
