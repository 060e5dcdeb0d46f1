import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../domain/failure.ts';
import { isRetryable } from '../../domain/item-error.ts';
import { ImageNormalizer } from '../../normalize/image/image-normalizer.ts';
import type { ProbeRefusal } from '../contract/probe.ts';
import { hashModelFiles } from './model-files.ts';
import type { ImageNetwork } from './network.ts';
import { hashImageRules, sexualContent, type SexualContent } from './sexual-content.ts';

/**
 * Judges images for Sexual Content only. The network is loaded with the first image, so a text-only workload pays
 * neither time nor memory for it; its artifacts are hashed at startup.
 *
 * Images are untrusted, so they are decoded in another process, never in the one that holds the models.
 */
export class ImageProbe {
  readonly artifacts: Readonly<Record<string, string>>;
  readonly #files: Readonly<Record<string, string>>;
  // A single process: the network takes far longer than decoding.
  readonly #decoder = new ImageNormalizer({ processes: 1 });
  readonly #closing = new AbortController();
  #loaded: Promise<ImageNetwork> | null = null;

  private constructor(files: Readonly<Record<string, string>>) {
    this.#files = files;
    this.artifacts = { ...files, ...hashImageRules() };
  }

  /** Hashes the files to load later. Failure('internal') when they are not installed. */
  static async open(): Promise<ImageProbe> {
    return new ImageProbe(await hashModelFiles());
  }

  /**
   * Judges one image. Rejects images that cannot be decoded (GUARD_REJECTED), and every image if the network cannot be
   * loaded (PROBE_NOT_LOADED); the next image retries the load. Throws when the image is not the cause: its decoder was
   * killed from outside, or the probe was closed.
   */
  async judge(bytes: Buffer): Promise<SexualContent | ProbeRefusal> {
    let network: ImageNetwork;
    try {
      network = await (this.#loaded ??= this.#load());
    } catch {
      this.#loaded = null;
      return { refusal: 'PROBE_NOT_LOADED', text: 'the network for images cannot be loaded here' };
    }
    const pixels = await this.#decoder.pixels(bytes, this.#closing.signal);
    if (!('code' in pixels)) return sexualContent(await network.classify(pixels));
    if (isRetryable(pixels)) throw new Failure('internal', pixels.message);
    return { refusal: 'GUARD_REJECTED', text: `IMAGE: ${pixels.message}` };
  }

  /** Ends the decoder; an image in flight throws. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the probe was closed'));
    await this.#decoder.close();
  }

  async #load(): Promise<ImageNetwork> {
    const { ImageNetwork } = await import('./network.ts');
    const network = await ImageNetwork.load();
    // The announced artifacts must be the ones that judge.
    if (!isDeepStrictEqual(await hashModelFiles(), this.#files)) {
      throw new Failure('internal', 'the embedded image model has changed since the guard was started');
    }
    return network;
  }
}
