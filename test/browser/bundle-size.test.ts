import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';

const assets = join(import.meta.dirname, '../../dist/web/assets');

/** All that a browser loads for the dashboard, compressed, in bytes. */
const LIMIT = 150_000;

it('the scripts and styles of the dashboard are at most 150 kB, compressed', () => {
  const sizes = readdirSync(assets)
    .filter((name) => /\.(js|css)$/.test(name))
    .map((name) => gzipSync(readFileSync(join(assets, name))).length);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`dashboard: ${(bytes / 1000).toFixed(1)} kB of scripts and styles, gzip`);
  expect(sizes.length).toBeGreaterThan(1);
  expect(bytes).toBeLessThanOrEqual(LIMIT);
});
