import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { mistake, oneOf, quoted, type Located } from '../mistake.ts';
import { AUDITS, HEADERS, LAYOUTS, type SourceConfig } from '../run-config.ts';

/** How to read a corpus, as given and not yet checked; absent where it is left open. */
export interface SourceGiven {
  readonly path: Located<string>;
  readonly textColumns?: Located<readonly string[]> | undefined;
  readonly idColumn?: Located<string> | undefined;
  readonly audit?: Located<string> | undefined;
  readonly encoding?: Located<string> | undefined;
  readonly layout?: Located<string> | undefined;
  readonly header?: Located<string> | undefined;
}

const GLOB_SIGNS = /[*?[\]{}!()]/;

async function checkPath(absolute: string, given: Located<string>): Promise<void> {
  try {
    await stat(absolute);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EACCES') {
      throw mistake(given.place, `${quoted(given.value)} may not be read by this user`, error);
    }
    // What a glob matches is found out where corpora are expanded.
    if (GLOB_SIGNS.test(given.value)) return;
    throw mistake(given.place, `no such file or folder: ${quoted(given.value)}`, error);
  }
}

function checkEncoding({ value, place }: Located<string>): string {
  const label = value.trim().toLowerCase();
  try {
    new TextDecoder(label);
  } catch (error) {
    throw mistake(
      place,
      `${quoted(value)} is not an encoding; expected a WHATWG label such as windows-1252 or shift_jis`,
      error,
    );
  }
  return label;
}

/**
 * One corpus, checked. `folder` is the absolute folder that its path is relative to. Failure('usage') naming the place
 * of what is wrong: a path that is not there, an unknown layout, audit or encoding, columns of a plain text.
 */
export async function resolveSource(given: SourceGiven, folder: string): Promise<SourceConfig> {
  if (given.path.value === '') throw mistake(given.path.place, 'the path is empty');
  const absolute = resolve(folder, given.path.value);
  await checkPath(absolute, given.path);

  const layout = given.layout === undefined ? null : oneOf(LAYOUTS, given.layout);
  const columns = given.textColumns ?? given.idColumn;
  if (layout === 'text' && columns !== undefined) {
    throw mistake(columns.place, 'layout text has no columns to choose from');
  }
  if (given.textColumns?.value.includes('') || given.idColumn?.value === '') {
    throw mistake(columns!.place, 'a column name is empty');
  }
  return {
    path: absolute,
    given: given.path.value,
    textColumns: given.textColumns === undefined ? null : [...given.textColumns.value],
    idColumn: given.idColumn?.value ?? null,
    audit: given.audit === undefined ? 'final' : oneOf(AUDITS, given.audit),
    encoding: given.encoding === undefined ? null : checkEncoding(given.encoding),
    layout,
    header: given.header === undefined ? null : oneOf(HEADERS, given.header),
  };
}
