/**
 * Bundles the programs into dist, with the modules that they share as chunks: Node would take half a second to load
 * hundreds of small files. Packages stay outside, except a few of many modules. `npm run typecheck` checks the types.
 * Plain JavaScript, a step of the bootstrap.
 *
 *   dist/src            the command line, the library, threads and child processes
 *   dist/bench, dist/training
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Names of the entry points of processes and threads; the others are loaded by users' code and by tests. */
const PROGRAM = /(^|[-/])(main|thread)\.ts$/;
const ENTRIES = [
  'library/index.ts',
  // Tests load these into processes of their own.
  ...['confinement/confined.ts', 'normalize/normalizer.ts', 'store/verdict-store.ts'],
  'guard-server/synthetic/version-record.ts',
];

/** Packages of many modules that every run loads, with the packages that only they need. */
const BUNDLED =
  /^(zod|commander|@grpc\/grpc-js|@js-sdsl\/ordered-map|protobufjs|@protobufjs|long|@duckdb\/node-api)(\/|$)/;

const DEVELOPERS = {
  bench: [
    ...['run.ts', 'processes/guard-server.ts', 'processes/report-usage.ts', 'processes/review-list.ts'],
    ...[
      'processes/review-pages.ts',
      'reference/arrival-order.ts',
      'reference/csv-parse.ts',
      'reference/floor.ts',
    ],
    ...['reference/naive-produce.ts', 'reference/naive-work.ts'],
  ],
  training: ['train.ts', 'evaluate.ts', 'fit/training-thread.ts'],
};

const files = (folder) => readdirSync(join(root, folder), { recursive: true });

async function bundle(target, entries) {
  await build({
    cwd: root,
    platform: 'node',
    input: Object.fromEntries(
      entries.map(([name, path]) => [name.slice(0, -'.ts'.length), join(root, path)]),
    ),
    external: (id) => !id.startsWith('.') && !isAbsolute(id) && !BUNDLED.test(id),
    transform: { target: 'node20.19' },
    output: {
      dir: join(root, target),
      format: 'esm',
      entryFileNames: '[name].js',
      // No hash in the name: a process that was started before the build may load a chunk later.
      chunkFileNames: 'chunks/[name].js',
      sourcemap: true,
    },
    logLevel: 'warn',
  });
}

const programs = [...files('src').filter((path) => PROGRAM.test(path)), ...ENTRIES];
await bundle(
  'dist/src',
  programs.map((path) => [path, join('src', path)]),
);
// A container image is built without the folders that only developers need.
if (existsSync(join(root, 'bench')) && existsSync(join(root, 'training'))) {
  for (const folder of ['bench', 'training']) {
    await bundle(
      `dist/${folder}`,
      DEVELOPERS[folder].map((path) => [path, join(folder, path)]),
    );
  }
}
