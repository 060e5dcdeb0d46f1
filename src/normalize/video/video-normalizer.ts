import type { FileHandle } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import { CLIP_ERRORS, recogniseAudio } from '../audio/audio-format.ts';
import { readTracks, type Tracks } from '../audio/tracks.ts';
import { DECODING_ERRORS, type DecodeTime, FFMPEG_DEATHS, FfmpegProcesses } from '../ffmpeg-process.ts';
import type { ImageNormalizer } from '../image/image-normalizer.ts';
import { extractFrame, readPictureTimes, type Video } from './video-frames.ts';

export interface VideoOptions {
  /** Max seconds between two frames. */
  readonly interval: number;
  /** Maximum number of frames. */
  readonly frames: number;
  readonly signal: AbortSignal;
  /** Takes the frames one by one, in order, in normalized format. */
  readonly each: (frame: { readonly atSeconds: number; readonly image: Buffer }) => Promise<void>;
}

/** The part of a video that the frames represent. */
export interface SeenVideo {
  readonly frameSeconds: number;
  readonly totalSeconds: number;
}

/** Errors of videos that are not judged. */
const VIDEO_ERRORS = {
  empty: itemError('EMPTY_CONTENT', 'the video has no pictures: zero frames'),
  manyTracks: itemError('UNSUPPORTED_TYPE', 'the file has several video tracks: split it into one file each'),
  tooLarge: itemError('MEDIA_TOO_LARGE', 'the pictures of the video have more than 36 megapixels'),
};

/** 8K: a picture of 8192 x 4320 passes. Decoding holds some 20 pictures in memory. */
const MAX_PIXELS = 36_000_000;

/** Time limit for one frame: a seek decodes all pictures since the last key frame, which may be some hundred. */
const FRAME_TIME: DecodeTime = { baseMs: 20_000, perAudioSecondMs: 0, wallFactor: 30 };

/**
 * Extracts single frames from videos with ffmpeg. Each frame is sought by a separate process, so a long video costs no
 * more than its frames. Starts nothing before the first video.
 */
export class VideoNormalizer {
  readonly #slots = pLimit(availableParallelism());
  readonly #processes = new FfmpegProcesses();
  readonly #images: ImageNormalizer;
  readonly #env: NodeJS.ProcessEnv;

  /** `images` normalizes frames. `env` has the PATH to ffmpeg. */
  constructor(images: ImageNormalizer, env: NodeJS.ProcessEnv = process.env) {
    this.#images = images;
    this.#env = env;
  }

  /** Reads the tracks of an audio clip or a video, or returns why it is not judged. */
  async tracks(file: FileHandle, signal: AbortSignal): Promise<Tracks | ItemError> {
    const video = await this.#open(file, signal);
    if ('code' in video) return video;
    return this.#twice(() => readTracks(video.format, video.running));
  }

  /**
   * Passes frames of a video to `each`: the first, the last, and others evenly between them, at most `interval` seconds
   * apart unless that would be more than `frames`. A frame that cannot be decoded counts as not seen. Returns why a
   * video was refused, which may be known only after some frames were passed on; they are then void. Rejects with the
   * errors of `each` and the reason of an abort; no process is left running.
   */
  async frames(
    file: FileHandle,
    { pictures, startSeconds }: Tracks,
    { interval, frames, signal, each }: VideoOptions,
  ): Promise<SeenVideo | ItemError> {
    const video = await this.#open(file, signal);
    if ('code' in video) return video;
    if (pictures.length > 1) return VIDEO_ERRORS.manyTracks;
    if (pictures.some(({ width, height }) => width * height > MAX_PIXELS)) return VIDEO_ERRORS.tooLarge;
    const times = await this.#twice(() => readPictureTimes(video, startSeconds));
    if ('code' in times) return times;
    const totalSeconds = times.end - times.first;
    if (!(totalSeconds >= 0)) return VIDEO_ERRORS.empty;
    const chosen = chooseTimes(times, interval, frames);
    let seen = 0;
    for (const at of chosen) {
      const png = await this.#twice(() => extractFrame(video, at));
      if (png === null) continue;
      if ('code' in png) return png;
      const normal = await this.#images.image(png, { frames: 1, signal });
      if ('code' in normal) return normal;
      await each({ atSeconds: at, image: normal.frames[0]!.bytes });
      seen++;
    }
    if (seen === 0) return DECODING_ERRORS.corrupt;
    const perFrame = Math.min(interval, totalSeconds / chosen.length);
    return { frameSeconds: seen * perFrame, totalSeconds };
  }

  /** Kills all processes; videos in progress reject. May be called more than once. */
  close(): Promise<void> {
    return this.#processes.close();
  }

  async #open(file: FileHandle, signal: AbortSignal): Promise<Video | ItemError> {
    signal.throwIfAborted();
    if ((await file.stat()).size === 0) return CLIP_ERRORS.empty;
    const format = await recogniseAudio(file);
    if (format === null) return CLIP_ERRORS.notAudio;
    const running = this.#processes.prepare(file, { env: this.#env, time: FRAME_TIME, signal });
    return { format, running, maxPixels: MAX_PIXELS };
  }

  /** Runs ffmpeg, and once more if it dies: the machine may cause the first death. */
  async #twice<T extends object | null>(run: () => Promise<T | ItemError>): Promise<T | ItemError> {
    const first = await this.#slots(run);
    const died = first !== null && 'code' in first && FFMPEG_DEATHS.has(first);
    return died ? this.#slots(run) : first;
  }
}

/** Times of the frames to judge, ascending, with the first and the last. */
export function chooseTimes(
  { first, last }: { readonly first: number; readonly last: number },
  interval: number,
  max: number,
): readonly number[] {
  const count = Math.min(max, Math.ceil((last - first) / interval) + 1);
  return Array.from({ length: count }, (_, at) =>
    at === 0 ? first : first + ((last - first) * at) / (count - 1),
  );
}
