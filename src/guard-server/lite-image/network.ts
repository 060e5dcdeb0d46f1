import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Pixels } from '../../normalize/image/normal-image.ts';
import { findModelFiles, type ModelFiles } from './model-files.ts';

/** Edge of the network's square input, in pixels. */
const INPUT_SIZE = 224;
/** The highest value of a colour channel: the network expects 0 to 1. */
const MAX_VALUE = 255;

// The parts of TensorFlow.js in use: its own declarations need browser types.

interface Tensor {
  data(): Promise<Float32Array>;
  dispose(): void;
}

interface ModelArtifacts {
  readonly modelTopology: object;
  readonly weightSpecs: readonly object[];
  readonly weightData: ArrayBuffer;
}

interface Model {
  predict(batch: Tensor): Tensor;
}

interface TensorFlow {
  enableProdMode(): void;
  setWasmPaths(paths: Readonly<Record<string, string>>): void;
  setBackend(name: string): Promise<boolean>;
  loadLayersModel(handler: { load(): Promise<ModelArtifacts> }): Promise<Model>;
  tensor3d(values: Uint8Array, shape: readonly [number, number, number], dtype: 'int32'): Tensor;
  cast(tensor: Tensor, dtype: 'float32'): Tensor;
  div(tensor: Tensor, by: number): Tensor;
  reshape(tensor: Tensor, shape: readonly number[]): Tensor;
  /** Disposes of every tensor that `compute` creates, except the one it returns. */
  tidy(compute: () => Tensor): Tensor;
  readonly image: {
    resizeBilinear(tensor: Tensor, size: readonly [number, number], alignCorners: boolean): Tensor;
  };
}

/** The image network of nsfwjs on the WebAssembly backend, within this process. */
export class ImageNetwork {
  readonly #tensorFlow: TensorFlow;
  readonly #model: Model;

  private constructor(tensorFlow: TensorFlow, model: Model) {
    this.#tensorFlow = tensorFlow;
    this.#model = model;
  }

  /** Loads code and weights, which takes about 1 s and 150 MB of memory. Rejects when that fails. */
  static async load(): Promise<ImageNetwork> {
    const files = findModelFiles();
    const tensorFlow = createRequire(import.meta.url)(files.code) as TensorFlow;
    // Otherwise it writes warnings and advice to the console.
    tensorFlow.enableProdMode();
    tensorFlow.setWasmPaths({
      'tfjs-backend-wasm.wasm': files.wasm,
      'tfjs-backend-wasm-simd.wasm': files.wasm,
      'tfjs-backend-wasm-threaded-simd.wasm': files.wasm,
    });
    if (!(await tensorFlow.setBackend('wasm'))) throw new Error('no WebAssembly backend');
    const model = await tensorFlow.loadLayersModel({ load: () => readArtifacts(files) });
    return new ImageNetwork(tensorFlow, model);
  }

  /**
   * Class probabilities in the order of IMAGE_CLASSES: tensor [1,5]. Blocks this thread for about 100 ms. The image is
   * prepared as in nsfwjs: bilinear resize that ignores the aspect ratio.
   */
  async classify({ width, height, rgb }: Pixels): Promise<Float32Array> {
    const tf = this.#tensorFlow;
    const output = tf.tidy(() => {
      const values = tf.div(tf.cast(tf.tensor3d(rgb, [height, width, 3], 'int32'), 'float32'), MAX_VALUE);
      const fits = width === INPUT_SIZE && height === INPUT_SIZE;
      const square = fits ? values : tf.image.resizeBilinear(values, [INPUT_SIZE, INPUT_SIZE], true);
      return this.#model.predict(tf.reshape(square, [1, INPUT_SIZE, INPUT_SIZE, 3]));
    });
    try {
      return await output.data();
    } finally {
      output.dispose();
    }
  }
}

async function readArtifacts(files: ModelFiles): Promise<ModelArtifacts> {
  const [network, weights] = await Promise.all([readFile(files.network, 'utf8'), readFile(files.weights)]);
  const layers = JSON.parse(network) as Omit<ModelArtifacts, 'weightData'>;
  return { ...layers, weightData: new Uint8Array(weights).buffer };
}
