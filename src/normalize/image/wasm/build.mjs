/** Compiles filter.ts, AssemblyScript, to dist/image-runtime/filter.wasm. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(dirname(dirname(here))));
const target = join('dist', 'image-runtime', 'filter.wasm');
const { error, stderr } = await asc.main([
  join('src', 'normalize', 'image', 'wasm', 'filter.ts'),
  ...['--baseDir', root, '--outFile', target, '--runtime', 'stub', '--importMemory', '--enable', 'simd'],
  ...['--noAssert', '-O3'],
]);
if (error) {
  process.stderr.write(stderr.toString());
  throw error;
}
