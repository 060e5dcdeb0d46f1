import type { FileHandle } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { LongAudio } from '../../config/run-config.ts';
import type { ItemError } from '../../domain/item-error.ts';
import { ByteBudget } from '../../flow/byte-budget.ts';
import { type Container, MANY_TRACKS, recogniseContainer } from './container.ts';
import { decodeClip } from './decode-clip.ts';
import { type FfmpegProcess, type Running, startFfmpeg } from './ffmpeg-process.ts';
import { DECODE_TIME, type DecodeTime } from './decode-deadline.ts';
import { DEATHS, REFUSALS } from './refusals.ts';
import { refusalByTracks } from './tracks.ts';
import { type AudioWindow, WINDOW_BYTES, WindowCutter } from './window-cutter.ts';

/** What of a clip was given out, and how long it is, both to the sample: equal when all of it was given out. */
export interface NormalAudio {
  readonly windowSeconds: number;
  readonly totalSeconds: number;
}

export interface AudioOptions {
  /** What becomes of a clip longer than one window: all of its windows are given out, or only the first. */
  readonly long: LongAudio;
  readonly signal: AbortSignal;
  /** Takes the windows one by one, in order; until it has fulfilled its promise, nothing more is decoded. */
  readonly each: (window: AudioWindow) => Promise<void>;
}

export interface AudioNormalizerOptions {
  /** How many decoders may run side by side; as many as there are cores unless given. */
  readonly decoders?: number;
  /** Where PATH is looked up, anew for each clip; this process's own unless given. */
  readonly env?: NodeJS.ProcessEnv;
  readonly time?: DecodeTime;
}

/**
 * Brings clips into normal form with ffmpeg: one process at a time for each clip, for a bounded number of clips side by
 * side, each of which holds one window, 9.6 MB at most. Starts nothing before the first clip.
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
   * Decodes a clip and gives its windows to `each`. The file is read at positions, and on Linux ffmpeg opens the very
   * same one anew; elsewhere it shares the descriptor's own position, which must be where it was on opening.
   *
   * Returns why a clip was refused, which may be known only after some windows were given out: they are void then.
   * Whatever of a damaged clip can be decoded is its sound, as it is for a player. A clip whose decoder dies is decoded
   * again, once, and no window of it is given out twice. Rejects with what `each` rejects
   * with, the reason of an abort, and what reading the file gives; no process is left behind then.
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
        // it may have been nothing but bad luck, such as a machine out of memory: a second death is the clip's
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

  /** Ends every process; clips under way throw. Any number of times. */
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

/** Decodes a clip into `cutter`, after a look at its tracks where it may have several; null, or why there is no sound. */
async function decode(
  container: Container,
  cutter: WindowCutter,
  each: AudioOptions['each'],
  running: Running,
): Promise<ItemError | null> {
  const refusal = MANY_TRACKS.has(container) ? await refusalByTracks(container, running) : null;
  return refusal ?? decodeClip(container, cutter, each, running);
}
