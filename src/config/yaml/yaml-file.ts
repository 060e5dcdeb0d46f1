import { hash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { FileTooLargeError, readWholeFile } from '../../files/open-file.ts';
import { type WithOrigin, usageError, quoteForMessage } from '../usage-error.ts';

export type KeyPath = readonly PropertyKey[];

/** A YAML document that knows where each of its keys and values is. */
export interface YamlFile {
  /** As shown in messages: how the user named it. */
  readonly shown: string;
  readonly data: unknown;
  /** `file:line:col` of a value, or of the nearest thing around it that is there. */
  valueAt(path: KeyPath): string;
  /** `file:line:col` of a key. */
  keyAt(path: KeyPath): string;
}

const MAX_BYTES = 1024 * 1024;

/**
 * Reads a configuration file of at most 1 MB, with the SHA-256 of its bytes. `named` and `inspect` as in `readYamlFile`.
 * Failure('usage') when it cannot be read or is not UTF-8.
 */
export async function readTextFile(
  absolute: string,
  { value: shown, place }: WithOrigin<string>,
  inspect?: (stats: Stats) => void,
): Promise<{ readonly text: string; readonly sha256: string }> {
  try {
    const bytes = await readWholeFile(absolute, { maxBytes: MAX_BYTES, links: 'follow', inspect });
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), sha256: hash('sha256', bytes) };
  } catch (error) {
    if (error instanceof FileTooLargeError)
      throw usageError(shown, 'is larger than 1 MB, which no configuration is', error);
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') throw usageError(place, `no such file: ${quoteForMessage(shown)}`, error);
    if (code === 'ENOTFILE') throw usageError(place, `${quoteForMessage(shown)} is not a file`, error);
    if (code === 'EACCES')
      throw usageError(place, `${quoteForMessage(shown)} may not be read by this user`, error);
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw usageError(shown, 'is not UTF-8 text', error);
    throw error;
  }
}

/**
 * Reads and parses a YAML (or JSON) file of at most 1 MB. Nothing in it is substituted from the environment. `named` is its path as messages show it, and where it was named. Failure('usage') with that place when
 * it cannot be read, with file, line and column when it is not one YAML document. `inspect` may reject the open
 * file.
 */
export async function readYamlFile(
  absolute: string,
  named: WithOrigin<string>,
  inspect?: (stats: Stats) => void,
): Promise<YamlFile> {
  const { text } = await readTextFile(absolute, named, inspect);
  // Most runs have no job file: do not make them load the parser.
  const { parseYaml } = await import('./yaml-document.ts');
  return parseYaml(text, named.value);
}
