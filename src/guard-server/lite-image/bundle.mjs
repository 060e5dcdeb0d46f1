/**
 * Puts the run-time files of the image network into dist/image-runtime, so that a production install needs none of the
 * source packages: of their 400 MB, a guard uses 5.
 *
 *   tensorflow.cjs  the parts of TensorFlow.js that run a layers model on WebAssembly, as one file
 *   tensorflow.wasm the SIMD build of that backend
 *   network.json    MobileNetV2 of nsfwjs: its layers, and the layout of its weights
 *   weights.bin     its weights
 *   LICENSES        of the packages
 *
 * CommonJS, because the loader that comes with the WebAssembly code asks for `__dirname`.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'rolldown';

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
const target = join(root, 'dist', 'image-runtime');
const packages = join(root, 'node_modules');
const backend = join(packages, '@tensorflow', 'tfjs-backend-wasm', 'dist');
/** At 224 x 224, the smallest of the networks in nsfwjs; its largest takes seven times as long. */
const network = join(packages, 'nsfwjs', 'dist', 'esm', 'models', 'mobilenet_v2');

const ENTRY = 'image-runtime';
const CODE = `
export { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
export { cast, div, enableProdMode, image, reshape, setBackend, tensor3d, tidy } from '@tensorflow/tfjs-core';
export { loadLayersModel } from '@tensorflow/tfjs-layers';
`;

/** The default export of a module, also of one that is CommonJS with an ES module's name. */
async function valueOf(path) {
  const { default: value } = await import(pathToFileURL(path).href);
  return value.default ?? value;
}

function licence(name) {
  const { version, license } = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'));
  return `${name} ${version}: ${license}\n`;
}

mkdirSync(target, { recursive: true });
await build({
  input: ENTRY,
  cwd: root,
  platform: 'node',
  plugins: [
    {
      name: 'entry',
      resolveId: (id) => (id === ENTRY ? join(root, `${ENTRY}.js`) : null),
      load: (id) => (id === join(root, `${ENTRY}.js`) ? CODE : null),
    },
  ],
  output: {
    file: join(target, 'tensorflow.cjs'),
    format: 'cjs',
    minify: true,
    comments: { legal: true, annotation: false, jsdoc: false },
  },
  logLevel: 'silent',
});
copyFileSync(join(backend, 'tfjs-backend-wasm-simd.wasm'), join(target, 'tensorflow.wasm'));
const { modelTopology, weightsManifest } = await valueOf(join(network, 'model.min.js'));
const weightSpecs = weightsManifest.flatMap(({ weights }) => weights);
writeFileSync(join(target, 'network.json'), JSON.stringify({ modelTopology, weightSpecs }));
const weights = await valueOf(join(network, 'group1-shard1of1.min.js'));
writeFileSync(join(target, 'weights.bin'), Buffer.from(weights, 'base64'));
writeFileSync(
  join(target, 'LICENSES'),
  ['core', 'layers', 'backend-wasm', 'backend-cpu']
    .map((part) => licence(`@tensorflow/tfjs-${part}`))
    .join('') +
    licence('nsfwjs') +
    '\n' +
    readFileSync(join(packages, 'nsfwjs', 'LICENSE'), 'utf8'),
);
