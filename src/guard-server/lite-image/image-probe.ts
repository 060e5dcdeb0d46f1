import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../domain/failure.ts';
import type { ItemError } from '../../domain/item-error.ts';
import type { Pixels } from '../../normalize/image/normal-image.ts';
import type { ProbeRefusal } from '../probe.ts';
import { hashModelFiles } from './model-files.ts';
import type { ImageNetwork } from './network.ts';
import { hashImageRules, sexualContent, type SexualContent } from './sexual-content.ts';

/** What looks at an image, once it has been loaded. */
interface Loaded {
  readonly network: ImageNetwork;
  readonly normalPixels: (bytes: Buffer) => Promise<Pixels | ItemError>;
}

/**
 * Judges pictures for Sexual Content, and for nothing else. Its network is loaded with the first of them, so that
 * whoever judges texts alone pays neither time nor memory; its artifacts are known from the start.
 */
export class ImageProbe {
  readonly artifacts: Readonly<Record<string, string>>;
  readonly #files: Readonly<Record<string, string>>;
  #loaded: Promise<Loaded> | null = null;

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
   * loaded (PROBE_NOT_LOADED); the next image tries again.
   */
  async judge(bytes: Buffer): Promise<SexualContent | ProbeRefusal> {
    let loaded: Loaded;
    try {
      loaded = await (this.#loaded ??= this.#load());
    } catch {
      this.#loaded = null;
      return { refusal: 'PROBE_NOT_LOADED', text: 'the network for images cannot be loaded here' };
    }
    const pixels = await loaded.normalPixels(bytes);
    if ('code' in pixels) return { refusal: 'GUARD_REJECTED', text: `IMAGE: ${pixels.message}` };
    return sexualContent(await loaded.network.classify(pixels));
  }

  async #load(): Promise<Loaded> {
    const [{ ImageNetwork }, { normalPixels }, { restrictLibvips }] = await Promise.all([
      import('./network.ts'),
      import('../../normalize/image/normalize-image.ts'),
      import('../../normalize/image/restrict-libvips.ts'),
    ]);
    restrictLibvips();
    const network = await ImageNetwork.load();
    // What was promised to judge images must be what does.
    if (!isDeepStrictEqual(await hashModelFiles(), this.#files)) {
      throw new Failure('internal', 'the embedded image model has changed since the guard was started');
    }
    return { network, normalPixels };
  }
}
