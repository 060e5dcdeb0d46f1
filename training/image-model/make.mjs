/**
 * Makes src/guard-server/weights/image, the network that the embedded guard judges images with. Its files are committed, as
 * the packages that they come from take 400 MB and the guard uses 5:
 *
 *   tensorflow.cjs  the parts of TensorFlow.js that run a layers model on WebAssembly, as one file
 *   tensorflow.wasm the SIMD build of that backend
 *   network.json    MobileNetV2 of nsfwjs: its layers, and the layout of its weights
 *   weights.bin     its weights
 *   LICENSES        of every package with code or weights in these files
 *
 * Their hashes are part of the guard's fingerprint, and those in SHA256SUMS. To make the same files again:
 *
 *   folder=$(mktemp -d)
 *   npm install --prefix "$folder" --ignore-scripts nsfwjs@4.2.1 @tensorflow/tfjs-core@4.22.0 \
 *     @tensorflow/tfjs-layers@4.22.0 @tensorflow/tfjs-backend-wasm@4.22.0 rolldown@1.2.19
 *   node training/image-model/make.mjs "$folder"
 *   sha256sum --check training/image-model/SHA256SUMS
 *
 * CommonJS, because the loader that comes with the WebAssembly code asks for `__dirname`.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: make.mjs <folder with the packages>');
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const target = join(root, 'src', 'guard-server', 'weights', 'image');
const base = resolve(folder);
const packages = join(base, 'node_modules');
/** At 224 x 224, the smallest of the networks in nsfwjs; its largest takes seven times as long. */
const network = join(packages, 'nsfwjs', 'dist', 'esm', 'models', 'mobilenet_v2');

const ENTRY = join(base, 'image-model.js');
const CODE = `
export { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
export { cast, div, enableProdMode, image, reshape, setBackend, tensor3d, tidy } from '@tensorflow/tfjs-core';
export { loadLayersModel } from '@tensorflow/tfjs-layers';
`;

/** The default export of a module, also of one that is CommonJS with an ES module's name. */
async function readDefault(path) {
  const { default: value } = await import(pathToFileURL(path).href);
  return value.default ?? value;
}

/** Bundles the code. Returns the folders of the packages that it comes from. */
async function bundleCode() {
  const rolldown = createRequire(ENTRY).resolve('rolldown');
  const { build } = await import(pathToFileURL(rolldown).href);
  const { output } = await build({
    input: ENTRY,
    cwd: base,
    platform: 'node',
    plugins: [
      {
        name: 'entry',
        load: (id) => (id === ENTRY ? CODE : null),
        resolveId: (id) => (id === ENTRY ? id : null),
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
  const folders = output[0].moduleIds.map(
    (id) => /^.*node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+/.exec(id)?.[0],
  );
  return [...new Set(folders.filter((path) => path !== undefined))].sort();
}

/** Name, version, licence and author of a package, and its licence text if it has one. */
function describeLicence(path) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const by = typeof author === 'string' ? author : author?.name;
  const text = readdirSync(path).find((file) => /^licen[cs]e/i.test(file));
  return {
    head: `${name} ${version}: ${license}${by ? `, ${by}` : ''}`,
    text: text && readFileSync(join(path, text), 'utf8').trim(),
  };
}

mkdirSync(target, { recursive: true });
const code = await bundleCode();
copyFileSync(
  join(packages, '@tensorflow', 'tfjs-backend-wasm', 'dist', 'tfjs-backend-wasm-simd.wasm'),
  join(target, 'tensorflow.wasm'),
);
const { modelTopology, weightsManifest } = await readDefault(join(network, 'model.min.js'));
const weightSpecs = weightsManifest.flatMap(({ weights }) => weights);
writeFileSync(join(target, 'network.json'), JSON.stringify({ modelTopology, weightSpecs }));
const weights = await readDefault(join(network, 'group1-shard1of1.min.js'));
writeFileSync(join(target, 'weights.bin'), Buffer.from(weights, 'base64'));

// The packages of TensorFlow.js have no licence text, but one of their dependencies has the same licence.
const apache = readFileSync(join(packages, 'long', 'LICENSE'), 'utf8').trim();
const licences = [...code, join(packages, 'nsfwjs')].map(describeLicence);
writeFileSync(
  join(target, 'LICENSES'),
  [
    licences.map(({ head }) => head).join('\n'),
    'A package without a licence text of its own has the same licence as one whose text follows.',
    ...licences.filter(({ text }) => text).map(({ head, text }) => `---- ${head}\n\n${text}`),
    `---- Apache License, Version 2.0\n\n${apache}`,
  ].join('\n\n') + '\n',
);
