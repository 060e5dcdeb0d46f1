import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Pixels } from '../../normalize/image/normal-image.ts';
import { findModelFiles, type ModelFiles } from './model-files.ts';

/** Edge of the square that the network looks at; nsfwjs resizes to it, bilinearly and without keeping the aspect. */
const INPUT_SIZE = 224;

// What we use of the two packages: their own declarations need a browser's types.

interface Tensor {
  data(): Promise<Float32Array>;
  dispose(): void;
}

interface TensorFlow {
  enableProdMode(): void;
  setBackend(name: string): Promise<boolean>;
  tensor3d(values: Uint8Array, shape: readonly [number, number, number], dtype: 'int32'): Tensor;
}

interface WasmBackend {
  setWasmPaths(paths: Readonly<Record<string, string>>): void;
}

interface ModelArtifacts {
  readonly modelTopology: object;
  readonly weightSpecs: readonly object[];
  readonly weightData: ArrayBuffer;
}

interface Nsfwjs {
  readonly NSFWJS: new (
    handler: { load(): Promise<ModelArtifacts> },
    options: { size: number },
  ) => { load(): Promise<void>; infer(image: Tensor): Tensor };
}

/** The image network of nsfwjs on the WebAssembly backend, within this process and from files of its packages. */
export class ImageNetwork {
  readonly #tensorFlow: TensorFlow;
  readonly #infer: (image: Tensor) => Tensor;

  private constructor(tensorFlow: TensorFlow, infer: (image: Tensor) => Tensor) {
    this.#tensorFlow = tensorFlow;
    this.#infer = infer;
  }

  /** Loads code and weights: about a second, and some 150 MB of memory. Rejects where that cannot be done. */
  static async load(): Promise<ImageNetwork> {
    // The packages' ES modules do not load in Node: one of their imports names a directory.
    const require = createRequire(import.meta.url);
    const files = findModelFiles();
    const tensorFlow = require('@tensorflow/tfjs') as TensorFlow;
    const backend = require('@tensorflow/tfjs-backend-wasm') as WasmBackend;
    // Else it writes warnings and advice to the console.
    tensorFlow.enableProdMode();
    backend.setWasmPaths({
      'tfjs-backend-wasm.wasm': files.wasm,
      'tfjs-backend-wasm-simd.wasm': files.wasm,
      'tfjs-backend-wasm-threaded-simd.wasm': files.wasm,
    });
    if (!(await tensorFlow.setBackend('wasm'))) throw new Error('no WebAssembly backend');
    const { NSFWJS } = require('nsfwjs') as Nsfwjs;
    const model = new NSFWJS({ load: () => readArtifacts(files) }, { size: INPUT_SIZE });
    await model.load();
    return new ImageNetwork(tensorFlow, (image) => model.infer(image));
  }

  /**
   * Probabilities of the classes, in their order. Computing keeps this thread busy: around a tenth of a second.
   */
  async classify({ width, height, rgb }: Pixels): Promise<Float32Array> {
    const image = this.#tensorFlow.tensor3d(rgb, [height, width, 3], 'int32');
    let output: Tensor | undefined;
    try {
      output = this.#infer(image);
      return await output.data();
    } finally {
      output?.dispose();
      image.dispose();
    }
  }
}

/**
 * The network as the packages' loader wants it. nsfwjs can read its files itself, but decodes their base64 in a way
 * that takes several seconds.
 */
async function readArtifacts(files: ModelFiles): Promise<ModelArtifacts> {
  const topology = await importDefault<{
    readonly modelTopology: object;
    readonly weightsManifest: readonly { readonly weights: readonly object[] }[];
  }>(files.topology);
  const weights = Buffer.from(await importDefault<string>(files.weights), 'base64');
  return {
    modelTopology: topology.modelTopology,
    weightSpecs: topology.weightsManifest.flatMap((group) => group.weights),
    weightData: new Uint8Array(weights).buffer,
  };
}

async function importDefault<T>(path: string): Promise<T> {
  return ((await import(pathToFileURL(path).href)) as { default: T }).default;
}
