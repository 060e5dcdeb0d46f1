import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { NORMALIZATION } from '../../domain/normalization.ts';

/**
 * Paths of the files that come with the package (`training/image-model/make.mjs`). Nothing is downloaded at run time.
 */
export interface ModelFiles {
  /** CommonJS module: the parts of TensorFlow.js that run the network. */
  readonly code: string;
  /**
   * The SIMD build of its WebAssembly backend. Every machine uses this build, because others may round differently.
   */
  readonly wasm: string;
  /** JSON: the network's layers and the layout of its weights. */
  readonly network: string;
  readonly weights: string;
}

const { resolve } = createRequire(import.meta.url);

/** Finds the files without loading them; throws when they are not installed. */
export function findModelFiles(): ModelFiles {
  return {
    code: resolve('#weights/image/tensorflow.cjs'),
    wasm: resolve('#weights/image/tensorflow.wasm'),
    network: resolve('#weights/image/network.json'),
    weights: resolve('#weights/image/weights.bin'),
  };
}

/**
 * SHA-256 in hex of everything that the class probabilities of an image depend on, by artifact name: the network's
 * files, and the code from an image's bytes to the network's output. Failure('internal') when a file is missing.
 */
export async function hashModelFiles(): Promise<Readonly<Record<string, string>>> {
  try {
    const files = findModelFiles();
    const [network, weights, wasm, code] = await Promise.all([
      readFile(files.network),
      readFile(files.weights),
      readFile(files.wasm),
      readFile(files.code),
    ]);
    return {
      'lite-image-network': sha256(network),
      'lite-image-runtime': sha256(
        wasm,
        code,
        `normalization ${NORMALIZATION}\nsharp ${await sharpVersion()}\n`,
      ),
      'lite-image-weights': sha256(weights),
    };
  } catch (cause) {
    throw new Failure('internal', 'the embedded image model cannot be read', { cause });
  }
}

/** Version of sharp, which decodes the pixels and is only loaded in the decoder's process. */
async function sharpVersion(): Promise<string> {
  // The package does not export its package.json.
  const folder = join('node_modules', 'sharp') + sep;
  const entry = resolve('sharp');
  const root = entry.slice(0, entry.lastIndexOf(folder) + folder.length);
  const text = await readFile(join(root, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function sha256(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
