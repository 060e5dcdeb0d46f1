import { hash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { withCheck, withoutCheck } from '../../src/files/checked-line.ts';
import { filesHash, manifestText, type Manifest } from '../../src/record/manifest/manifest.ts';
import type { ClosingLine } from '../../src/record/log/chain-line.ts';

export async function readManifestJson(dir: string, name = 'manifest.json'): Promise<Manifest> {
  return JSON.parse(await readFile(join(dir, name), 'utf8')) as Manifest;
}

/** Changes the text of a file; fails if that leaves it as it was. */
export async function change(path: string, by: (text: string) => string): Promise<void> {
  const text = await readFile(path, 'utf8');
  expect(by(text)).not.toBe(text);
  await writeFile(path, by(text));
}

/** Puts a manifest in place the way somebody does who knows the format. */
export async function putManifest(dir: string, text: string): Promise<void> {
  await writeFile(join(dir, 'manifest.json'), text);
  await writeFile(join(dir, 'manifest.sha256'), `${hash('sha256', text)}  manifest.json\n`);
}

/**
 * What somebody can do who writes in a run directory and knows the format: makes the closing line, the summary and the
 * manifest anew, so that they fit the other files as they are now. `change` may alter the manifest first. Gives the new
 * chain head.
 */
export async function reseal(
  dir: string,
  change: (manifest: Manifest) => Manifest = (manifest) => manifest,
): Promise<string> {
  const manifest = change(await readManifestJson(dir));
  const { epoch } = manifest;
  const log = `log/${String(epoch).padStart(4, '0')}-commits.jsonl`;
  const entry = async (path: string): Promise<Manifest['files'][number]> => {
    const bytes = await readFile(join(dir, path));
    return { path, bytes: bytes.length, sha256: hash('sha256', bytes) };
  };
  const entries = (): Promise<Manifest['files']> =>
    Promise.all(manifest.files.map(({ path }) => entry(path)));

  const lines = (await readFile(join(dir, log), 'utf8')).trimEnd().split('\n');
  const old = JSON.parse(withoutCheck(lines.pop()!)!) as ClosingLine;
  const files = filesHash(await entries(), epoch);
  const changed = { ...old, at: manifest.finished_at, files, prev: hash('sha256', lines.at(-1)!) };
  const closing = withCheck(JSON.stringify(changed));
  await writeFile(join(dir, log), [...lines, closing, ''].join('\n'));
  const head = hash('sha256', closing);

  const summary = await readFile(join(dir, 'summary.json'), 'utf8');
  const resealed = summary.replace(/"chain_head": "[^"]*"/, `"chain_head": "${head}"`);
  await writeFile(join(dir, 'summary.json'), resealed);
  await putManifest(dir, manifestText({ ...manifest, files: await entries(), chain_head: head }));
  return head;
}
