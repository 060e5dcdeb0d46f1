import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const DOCS_IMAGES = join(import.meta.dirname, '../../../docs/images');

/** Images are part of the package and of every clone. */
const MAX_BYTES = 200_000;

/**
 * Takes a picture of what a page shows, `name`.png: for the docs with `UPDATE_IMAGES=1`, to be looked at before it is
 * committed, and otherwise below the folder for temporary files. Returns its path.
 */
export async function screenshot(
  page: Page,
  name: string,
  { fullPage = false }: { readonly fullPage?: boolean } = {},
): Promise<string> {
  const update = process.env.UPDATE_IMAGES === '1';
  const folder = update ? DOCS_IMAGES : join(tmpdir(), 'guardsweep-images');
  await mkdir(folder, { recursive: true });
  const png = await page.screenshot({ animations: 'disabled', fullPage });
  expect(png.length, `bytes of ${name}.png`).toBeLessThan(MAX_BYTES);
  const path = join(folder, `${name}.png`);
  await writeFile(path, png);
  return path;
}
