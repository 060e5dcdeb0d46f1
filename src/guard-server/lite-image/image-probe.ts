import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../domain/failure.ts';
import { isRetryable } from '../../domain/item-error.ts';
import { ImageNormalizer } from '../../normalize/image/image-normalizer.ts';
import type { ProbeRefusal } from '../contract/probe.ts';
import { hashModelFiles } from './model-files.ts';
import type { ImageNetwork } from './network.ts';
import { hashImageRules, sexualContent, type SexualContent } from './sexual-content.ts';

/**
 * Judges pictures for Sexual Content, and for nothing else. Its network is loaded with the first of them, so that
 * whoever judges texts alone pays neither time nor memory; its artifacts are known from the start.
 *
 * Images are decoded in another process, never in the one that holds the models: they may come from anybody.
 */
export class ImageProbe {
  readonly artifacts: Readonly<Record<string, string>>;
  readonly #files: Readonly<Record<string, string>>;
  // one at a time: the network takes far longer than decoding
  readonly #decoder = new ImageNormalizer({ processes: 1 });
  readonly #closing = new AbortController();
  #loaded: Promise<ImageNetwork> | null = null;

  private constructor(files: Readonly<Record<string, string>>) {
    this.#files = files;
    this.artifacts = { ...files, ...hashImageRules() };
  }

  /** Hashes what will be loaded. A Failure (internal) when it is not installed. */
  static async open(): Promise<ImageProbe> {
    return new ImageProbe(await hashModelFiles());
  }

  /**
   * Judges one image. Refused are what no decoder takes (GUARD_REJECTED), and every image where the network cannot be
   * loaded (PROBE_NOT_LOADED); the next image tries again. Throws where the image is not to blame: its decoder was
   * ended by something outside, or the probe was closed.
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

  /** Ends the decoder; an image under way throws. Any number of times. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the probe was closed'));
    await this.#decoder.close();
  }

  async #load(): Promise<ImageNetwork> {
    const { ImageNetwork } = await import('./network.ts');
    const network = await ImageNetwork.load();
    // What was promised to judge images must be what does.
    if (!isDeepStrictEqual(await hashModelFiles(), this.#files)) {
      throw new Failure('internal', 'the embedded image model has changed since the guard was started');
    }
    return network;
  }
}
