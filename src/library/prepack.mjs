/**
 * Prepares dist for packing. Plain JavaScript, run by npm before it packs.
 *
 * - Bundles the programs again: dist may contain chunks of earlier builds.
 * - Writes the type declarations of the package's entry to dist/types, with only those that they refer to.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const types = join(root, 'dist', 'types');

const begunAt = Date.now();
await import('../bundle.mjs');
// Last, because a running command may still load chunks.
for (const folder of ['src', 'bench', 'training']) {
  const built = join(root, 'dist', folder);
  if (!existsSync(built)) continue;
  for (const path of filesBelow(built)) if (statSync(path).mtimeMs < begunAt) rmSync(path);
}

rmSync(types, { recursive: true, force: true });
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const done = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.types.json')], {
  stdio: 'inherit',
});
if (done.status !== 0) process.exit(done.status ?? 1);

const needed = new Set();
const pending = [join(types, 'src', 'library', 'index.d.ts')];
while (pending.length > 0) {
  const file = pending.pop();
  if (needed.has(file)) continue;
  needed.add(file);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)\.ts['"]/g)) {
    pending.push(resolve(dirname(file), `${path}.d.ts`));
  }
}
for (const path of filesBelow(types)) if (!needed.has(path)) rmSync(path);

function filesBelow(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}
