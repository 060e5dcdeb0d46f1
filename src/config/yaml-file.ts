import { open } from 'node:fs/promises';
import { mistake, quoted, type Located } from './mistake.ts';

export type KeyPath = readonly PropertyKey[];

/** A YAML document that knows where each of its keys and values stands. */
export interface YamlFile {
  /** As shown in messages: how the user named it. */
  readonly shown: string;
  readonly data: unknown;
  /** `file:line:col` of a value, or of the nearest thing around it that is there. */
  valueAt(path: KeyPath): string;
  /** `file:line:col` of a key. */
  keyAt(path: KeyPath): string;
}

const LARGEST_BYTES = 1024 * 1024;

async function readText(absolute: string, { value: shown, place }: Located<string>): Promise<string> {
  try {
    const handle = await open(absolute, 'r');
    try {
      if ((await handle.stat()).size > LARGEST_BYTES) {
        throw mistake(shown, 'is larger than 1 MB, which no configuration is');
      }
      const bytes = await handle.readFile();
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') throw mistake(place, `no such file: ${quoted(shown)}`, error);
    if (code === 'EISDIR') throw mistake(place, `${quoted(shown)} is a folder, not a YAML file`, error);
    if (code === 'EACCES') throw mistake(place, `${quoted(shown)} may not be read by this user`, error);
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw mistake(shown, 'is not UTF-8 text', error);
    throw error;
  }
}

/**
 * Reads and parses a YAML (or JSON) file of at most 1 MB. Text is taken as it stands: nothing is substituted from
 * the environment. `named` is its path as messages show it, and where it was named. Failure('usage') with that place when
 * it cannot be read, with file, line and column when it is not one YAML document.
 */
export async function readYamlFile(absolute: string, named: Located<string>): Promise<YamlFile> {
  const text = await readText(absolute, named);
  // Most runs have no job file, and none should wait for a parser it does not use.
  const { parseYaml } = await import('./yaml-document.ts');
  return parseYaml(text, named.value);
}
