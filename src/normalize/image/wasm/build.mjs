/**
 * Compiles filter.ts, AssemblyScript, and writes the bytes to filter-bytes.ts. They are committed, as the compiler
 * takes 100 MB. After a change of filter.ts:
 *
 *   folder=$(mktemp -d)
 *   npm install --prefix "$folder" --ignore-scripts assemblyscript@0.28.20
 *   node src/normalize/image/wasm/build.mjs "$folder"
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: build.mjs <folder with the compiler>');
const compiler = join(resolve(folder), 'node_modules', 'assemblyscript', 'dist', 'asc.js');
const { default: asc } = await import(pathToFileURL(compiler).href);

const here = dirname(fileURLToPath(import.meta.url));
let bytes;
const { error, stderr } = await asc.main(
  [
    'filter.ts',
    ...[
      '--baseDir',
      here,
      '--outFile',
      'filter.wasm',
      '--runtime',
      'stub',
      '--importMemory',
      '--enable',
      'simd',
    ],
    ...['--noAssert', '-O3'],
  ],
  { writeFile: (_name, contents) => void (bytes = contents) },
);
if (error) {
  process.stderr.write(stderr.toString());
  throw error;
}
const source = createHash('sha256')
  .update(readFileSync(join(here, 'filter.ts')))
  .digest('hex');
writeFileSync(
  join(dirname(here), 'filter-bytes.ts'),
  `// Written by wasm/build.mjs.

/** SHA-256 of the source that the bytes were compiled from. */
export const FILTER_SOURCE_SHA256 = '${source}';

/** WebAssembly module in base64. */
export const FILTER_WASM =
  '${Buffer.from(bytes).toString('base64')}';
`,
);
