import type { FileHandle } from 'node:fs/promises';
import pLimit from 'p-limit';
import type { Judging, LongAudio } from '../../config/run-config.ts';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import type { Outcome } from '../../domain/outcome.ts';
import {
  type EmbeddedMediaRequest,
  isEmbedded,
  type MediaFile,
  type MediaKind,
  type MediaRequest,
} from '../../domain/request.ts';
import { toReadProblem } from '../../ingest/objects/object-error.ts';
import { LocalFile, type SourceFile } from '../../ingest/sources/source-file.ts';
import { openUnnamedFileWith } from '../../files/unnamed-file.ts';
import { ByteBudget } from '../../flow/byte-budget.ts';
import { CLIP_ERRORS } from '../../normalize/audio/audio-format.ts';
import type { Tracks } from '../../normalize/audio/tracks.ts';
import {
  failedOutcome,
  type Judge,
  judgeParts,
  type PartsCoverage,
  type Part,
} from '../parts/judge-parts.ts';
import { changedSince, checkPlanned, readPlanned } from './hashed-bytes.ts';

/** Max files open (being decoded or judged) at a time, in the whole process. */
const MAX_OPEN_FILES = 32;
/** Max bytes of images in memory, files and frames together. A single larger image is admitted alone. */
const MAX_IMAGE_BYTES = 256 * 1024 * 1024;
/** Max bytes of a frame in normalized format: a PNG of 512 x 512 pixels. */
const MAX_FRAME_BYTES = 800_000;

/** Converts media to the normalized format. An ItemError is the reason why a file cannot be converted. */
export interface MediaNormalizer {
  /** Up to `frames` frames, evenly spaced, and the number of frames in the image. */
  image(
    bytes: Buffer,
    options: { readonly frames: number; readonly signal: AbortSignal },
  ): Promise<
    | {
        readonly frames: readonly { readonly index: number; readonly bytes: Buffer }[];
        readonly total: number;
      }
    | ItemError
  >;
  /** Passes the windows of an audio clip to `each`, one at a time, and returns how much of the clip they cover. */
  audio(
    file: FileHandle,
    options: {
      readonly long: LongAudio;
      readonly hasKnownTracks: boolean;
      readonly signal: AbortSignal;
      readonly each: (window: { readonly startSeconds: number; readonly wav: Buffer }) => Promise<void>;
    },
  ): Promise<{ readonly windowSeconds: number; readonly totalSeconds: number } | ItemError>;
  /** The tracks of an audio clip or a video. */
  tracks(file: FileHandle, signal: AbortSignal): Promise<Tracks | ItemError>;
  /** Passes frames of a video to `each`, one at a time, and returns how much of it they represent. */
  video(
    file: FileHandle,
    tracks: Tracks,
    options: {
      readonly interval: number;
      readonly frames: number;
      readonly signal: AbortSignal;
      readonly each: (frame: { readonly atSeconds: number; readonly image: Buffer }) => Promise<void>;
    },
  ): Promise<{ readonly frameSeconds: number; readonly totalSeconds: number } | ItemError>;
}

/** Access to media files. */
export interface MediaFiles {
  /** Opens a file for reading, or returns the item's error. The caller closes the file. */
  open(file: Pick<MediaFile, 'corpus' | 'path'>, signal: AbortSignal): Promise<SourceFile | ItemError>;
}

export interface MediaJudgeOptions {
  readonly judge: Judge;
  readonly normalizer: MediaNormalizer;
  readonly folders: MediaFiles;
}

interface MediaOptions {
  readonly judging: Judging;
  readonly session: string;
  readonly signal: AbortSignal;
}

/** The frames of an image to judge. */
interface Frames {
  readonly parts: readonly Part[];
  readonly bytes: number;
  readonly covered: PartsCoverage;
}

/** An image, from a file or from a record. */
interface Image {
  /** In bytes, as stored. */
  readonly size: number;
  readonly caption: string | null;
  readonly read: () => Promise<Buffer | ItemError>;
}

function imageIn(handle: SourceFile, { file, caption }: MediaRequest, signal: AbortSignal): Image {
  return { size: file.bytes, caption, read: () => readPlanned(handle, file, signal).catch(toReadProblem) };
}

/** Judges media files: checks that they are as planned, normalizes them, and has every part judged. */
export class MediaJudge {
  readonly #options: MediaJudgeOptions;
  readonly #files = pLimit(MAX_OPEN_FILES);
  readonly #memory = new ByteBudget(MAX_IMAGE_BYTES);

  constructor(options: MediaJudgeOptions) {
    this.#options = options;
  }

  /**
   * Returns the outcome of one file. Any fault of the file, or a bug while decoding it, becomes its outcome. Rejects on
   * abort, and when the judge rejects.
   */
  moderate(request: MediaRequest | EmbeddedMediaRequest, options: MediaOptions): Promise<Outcome> {
    return this.#files(async () => {
      options.signal.throwIfAborted();
      if (isEmbedded(request)) return this.#embedded(request, options);
      const file = await this.#options.folders.open(request.file, options.signal);
      if ('code' in file) return failedOutcome(file);
      try {
        return request.modality === 'image'
          ? await this.#image(imageIn(file, request, options.signal), options)
          : await this.#planned(file, request, options);
      } finally {
        await file.close();
      }
    });
  }

  async #embedded(
    { modality, embedded, caption }: EmbeddedMediaRequest,
    options: MediaOptions,
  ): Promise<Outcome> {
    if (modality === 'image') {
      return this.#image({ size: embedded.length, caption, read: async () => embedded }, options);
    }
    const file = await openUnnamedFileWith(embedded);
    try {
      return await this.#audio(file, caption, options);
    } finally {
      await file.close();
    }
  }

  /** Judges an image. Memory is reserved for the file until it is decoded, and for its frames until they are judged. */
  async #image(image: Image, options: MediaOptions): Promise<Outcome> {
    const { judging, signal } = options;
    let held = image.size + judging.frames * MAX_FRAME_BYTES;
    await this.#memory.enter(held, signal);
    try {
      const frames = await this.#frames(image, options);
      if ('code' in frames) return failedOutcome(frames);
      const { parts, bytes, covered } = frames;
      this.#memory.leave(held - bytes);
      held = bytes;
      return await judgeParts(
        async (judge) => {
          await judge(parts);
          return covered;
        },
        this.#options.judge,
        options,
      );
    } finally {
      this.#memory.leave(held);
    }
  }

  async #frames({ caption, read }: Image, { judging, signal }: MediaOptions): Promise<Frames | ItemError> {
    try {
      const bytes = await read();
      if ('code' in bytes) return bytes;
      const notJudged = await this.#notJudged({ modality: 'image', described: caption !== null }, signal);
      if (notJudged !== null) return notJudged;
      const normal = await this.#options.normalizer.image(bytes, { frames: judging.frames, signal });
      if ('code' in normal) return normal;
      const parts = normal.frames.map((frame): Part => ({
        request: { requestType: 'prompt', modality: 'image', image: frame.bytes, caption },
        at: frame.index,
      }));
      return {
        parts,
        bytes: normal.frames.reduce((sum, frame) => sum + frame.bytes.length, 0),
        covered: { unit: 'frames', judged: parts.length, total: normal.total },
      };
    } catch (error) {
      return bugInDecoding(error, signal);
    }
  }

  /** Judges an audio clip in a file that must be as planned. */
  async #planned(file: SourceFile, request: MediaRequest, options: MediaOptions): Promise<Outcome> {
    const handle = await file.descriptor().catch(toReadProblem);
    if ('code' in handle) return failedOutcome(handle);
    const clip = new LocalFile(handle);
    const before = clip.state();
    const changed = await checkPlanned(clip, request.file, options.signal);
    if (changed !== null) return failedOutcome(changed);
    const outcome = await this.#audio(handle, request.caption, options);
    // The decoder opened the file again after it was hashed.
    const changedMeanwhile = changedSince(before, clip);
    return changedMeanwhile === null ? outcome : failedOutcome(changedMeanwhile);
  }

  /** Judges an audio clip, or a video: its frames, then its sound. */
  async #audio(file: FileHandle, caption: string | null, options: MediaOptions): Promise<Outcome> {
    const { signal } = options;
    const described = caption !== null;
    const tracks = await this.#tracks(file, signal);
    if ('code' in tracks) return failedOutcome(tracks);
    const hasPictures = tracks.pictures.length > 0;
    const notJudged =
      (hasPictures ? await this.#notJudged({ modality: 'image', described }, signal) : null) ??
      (tracks.sounds > 0 ? await this.#notJudged({ modality: 'audio', described }, signal) : null);
    if (notJudged !== null) return failedOutcome(notJudged);
    return judgeParts(
      async (judge) => {
        const seen = hasPictures ? await this.#pictures(file, tracks, caption, options, judge) : null;
        if (seen !== null && 'code' in seen) return seen;
        if (tracks.sounds === 0) return seen!;
        const heard = await this.#windows(file, caption, options, judge);
        if (seen === null || heard === CLIP_ERRORS.noSound) return seen ?? heard;
        if ('code' in heard) return heard;
        const total = Math.max(seen.total, heard.total);
        const missed = Math.max(seen.total - seen.judged, heard.total - heard.judged);
        return { unit: 'seconds', judged: toMilliseconds(total - missed), total };
      },
      this.#options.judge,
      options,
    );
  }

  async #tracks(file: FileHandle, signal: AbortSignal): Promise<Tracks | ItemError> {
    try {
      return await this.#options.normalizer.tracks(file, signal);
    } catch (error) {
      return bugInDecoding(error, signal);
    }
  }

  /** Avoids decoding a file that no guard judges. Must be called after the file was checked to be as planned. */
  async #notJudged(kind: MediaKind, signal: AbortSignal): Promise<ItemError | null> {
    return (await this.#options.judge.notJudged?.(kind, signal)) ?? null;
  }

  async #windows(
    file: FileHandle,
    transcript: string | null,
    { judging, signal }: MediaOptions,
    judge: JudgeParts,
  ): Promise<PartsCoverage | ItemError> {
    return decodeParts(judge, signal, async (each) => {
      const heard = await this.#options.normalizer.audio(file, {
        long: judging.longAudio,
        hasKnownTracks: true,
        signal,
        each: ({ startSeconds, wav: audio }) =>
          each({ requestType: 'prompt', modality: 'audio', audio, transcript }, startSeconds),
      });
      return 'code' in heard ? heard : coveredSeconds(heard.windowSeconds, heard.totalSeconds);
    });
  }

  async #pictures(
    file: FileHandle,
    tracks: Tracks,
    caption: string | null,
    { judging, signal }: MediaOptions,
    judge: JudgeParts,
  ): Promise<PartsCoverage | ItemError> {
    const { normalizer } = this.#options;
    return decodeParts(judge, signal, async (each) => {
      const seen = await normalizer.video(file, tracks, {
        interval: judging.videoInterval,
        frames: judging.videoFrames,
        signal,
        each: ({ atSeconds, image }) =>
          each({ requestType: 'prompt', modality: 'image', image, caption }, atSeconds),
      });
      return 'code' in seen ? seen : coveredSeconds(seen.frameSeconds, seen.totalSeconds);
    });
  }
}

type JudgeParts = (group: readonly Part[]) => Promise<void>;

/** Judges parts of a file while it is decoded. Throws what `judge` throws; any other error is a bug in decoding. */
async function decodeParts(
  judge: JudgeParts,
  signal: AbortSignal,
  decode: (
    each: (request: Part['request'], atSeconds: number) => Promise<void>,
  ) => Promise<PartsCoverage | ItemError>,
): Promise<PartsCoverage | ItemError> {
  let judgeError: unknown = null;
  try {
    return await decode(async (request, atSeconds) => {
      try {
        await judge([{ request, at: toMilliseconds(atSeconds) }]);
      } catch (error) {
        judgeError = error;
        throw error;
      }
    });
  } catch (error) {
    if (judgeError !== null) throw judgeError as Error;
    return bugInDecoding(error, signal);
  }
}

function coveredSeconds(judged: number, total: number): PartsCoverage {
  return { unit: 'seconds', judged: toMilliseconds(judged), total: toMilliseconds(total) };
}

/**
 * The error for a bug in decoding: decoders return errors, so one that throws has a bug, which costs only this item.
 * Throws on abort.
 */
function bugInDecoding(error: unknown, signal: AbortSignal): ItemError {
  signal.throwIfAborted();
  if (!(error instanceof Error)) throw error;
  return itemError('INTERNAL', 'decoding the file failed because of a bug in this program');
}

/** Rounds seconds to milliseconds. */
function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
