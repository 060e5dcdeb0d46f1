import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { NORMALIZATION } from '../../domain/normalization.ts';

/** Where the image network lies: inside the packages it comes from, so that nothing is ever downloaded. */
export interface ModelFiles {
  /** A module whose default export has the network's layers and the layout of its weights. */
  readonly topology: string;
  /** A module whose default export is the weights in base64. */
  readonly weights: string;
  /**
   * The SIMD build of the WebAssembly backend; every machine uses this one, since another build may round
   * differently.
   */
  readonly wasm: string;
}

/** MobileNetV2 at 224 x 224, the smallest of the networks in nsfwjs; its largest takes seven times as long. */
const NETWORK = 'mobilenet_v2';

/** Packages whose code a score passes through, from the bytes of an image to the network's output. */
const RUNTIME = [
  'nsfwjs',
  'sharp',
  '@tensorflow/tfjs-core',
  '@tensorflow/tfjs-layers',
  '@tensorflow/tfjs-backend-wasm',
];

const require = createRequire(import.meta.url);

/** Finds the files without loading the code of the packages; throws when a package is not installed. */
export function findModelFiles(): ModelFiles {
  const network = join(packageFolder('nsfwjs'), 'dist', 'esm', 'models', NETWORK);
  const backend = join(packageFolder('@tensorflow/tfjs-backend-wasm'), 'dist');
  return {
    topology: join(network, 'model.min.js'),
    weights: join(network, 'group1-shard1of1.min.js'),
    wasm: join(backend, 'tfjs-backend-wasm-simd.wasm'),
  };
}

/**
 * SHA-256 in hex of what an image's score depends on before it is weighed, by artifact name: the network's files, and
 * the WebAssembly code with the versions of everything around it. A Failure (internal) when a package is missing.
 */
export async function hashModelFiles(): Promise<Readonly<Record<string, string>>> {
  try {
    const files = findModelFiles();
    const [topology, weights, wasm] = await Promise.all([
      readFile(files.topology),
      readFile(files.weights),
      readFile(files.wasm),
    ]);
    const versions = await Promise.all(RUNTIME.map(installedVersion));
    return {
      'lite-image-network': sha256(topology),
      'lite-image-runtime': sha256(wasm, `normalization ${NORMALIZATION}\n`, ...versions),
      'lite-image-weights': sha256(weights),
    };
  } catch (cause) {
    throw new Failure('internal', 'the embedded image model cannot be read', { cause });
  }
}

async function installedVersion(name: string): Promise<string> {
  const text = await readFile(join(packageFolder(name), 'package.json'), 'utf8');
  return `${name} ${(JSON.parse(text) as { version: string }).version}\n`;
}

/** Packages need not export their package.json; their folder is known by the name of the one around it. */
function packageFolder(name: string): string {
  const folder = join('node_modules', name) + sep;
  const entry = require.resolve(name);
  return entry.slice(0, entry.lastIndexOf(folder) + folder.length);
}

function sha256(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
