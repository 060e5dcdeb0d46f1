import type { FileHandle } from 'node:fs/promises';
import type { ItemError } from '../domain/item-error.ts';
import {
  AudioNormalizer,
  type AudioNormalizerOptions,
  type AudioOptions,
  type NormalAudio,
} from './audio/audio-normalizer.ts';
import { ImageNormalizer, type ImageNormalizerOptions, type ImageOptions } from './image/image-normalizer.ts';
import type { NormalImage, Picture } from './image/normal-image.ts';
import type { WantedPicture } from './image/normalize-image.ts';
import type { Tracks } from './audio/tracks.ts';
import { type SeenVideo, VideoNormalizer, type VideoOptions } from './video/video-normalizer.ts';

interface NormalizerOptions {
  readonly image?: ImageNormalizerOptions;
  readonly audio?: AudioNormalizerOptions;
}

/** Normalizes images, audio clips and videos. Starts no process before the first file of its kind. */
export class Normalizer {
  readonly #images: ImageNormalizer;
  readonly #clips: AudioNormalizer;
  readonly #videos: VideoNormalizer;

  private constructor(options: NormalizerOptions) {
    this.#images = new ImageNormalizer(options.image);
    this.#clips = new AudioNormalizer(options.audio);
    this.#videos = new VideoNormalizer(this.#images, options.audio?.env);
  }

  static open(options: NormalizerOptions = {}): Normalizer {
    return new Normalizer(options);
  }

  /** See {@link ImageNormalizer.image}. */
  image(bytes: Buffer, options: ImageOptions): Promise<NormalImage | ItemError> {
    return this.#images.image(bytes, options);
  }

  /** See {@link ImageNormalizer.picture}. */
  picture(bytes: Buffer, wanted: WantedPicture, signal: AbortSignal): Promise<Picture | ItemError> {
    return this.#images.picture(bytes, wanted, signal);
  }

  /** See {@link AudioNormalizer.audio}. */
  audio(file: FileHandle, options: AudioOptions): Promise<NormalAudio | ItemError> {
    return this.#clips.audio(file, options);
  }

  /** See {@link VideoNormalizer.tracks}. */
  tracks(file: FileHandle, signal: AbortSignal): Promise<Tracks | ItemError> {
    return this.#videos.tracks(file, signal);
  }

  /** See {@link VideoNormalizer.frames}. */
  video(file: FileHandle, tracks: Tracks, options: VideoOptions): Promise<SeenVideo | ItemError> {
    return this.#videos.frames(file, tracks, options);
  }

  /** Kills all processes; work in progress rejects. May be called more than once. */
  async close(): Promise<void> {
    await Promise.all([this.#images.close(), this.#clips.close(), this.#videos.close()]);
  }
}
