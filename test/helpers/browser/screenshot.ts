import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const DOCS_IMAGES = join(import.meta.dirname, '../../../docs/images');

/** Images are part of the package and of every clone. */
const MAX_BYTES = 200_000;

/**
 * Takes a picture of what a page shows, `name`.png, below the folder for temporary files, and returns its path. With
 * `UPDATE_IMAGES=1` it replaces the picture of this name in the docs, if they have one: look at it before you commit it.
 */
export async function screenshot(page: Page, name: string): Promise<string> {
  const update = process.env.UPDATE_IMAGES === '1' && existsSync(join(DOCS_IMAGES, `${name}.png`));
  const folder = update ? DOCS_IMAGES : join(tmpdir(), 'guardsweep-images');
  await mkdir(folder, { recursive: true });
  const png = await page.screenshot({ animations: 'disabled' });
  expect(png.length, `bytes of ${name}.png`).toBeLessThan(MAX_BYTES);
  const path = join(folder, `${name}.png`);
  await writeFile(path, png);
  return path;
}
