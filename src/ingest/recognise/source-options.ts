import type { SourceConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { encodePath } from '../../domain/file-path.ts';
import { ID_NAMES } from '../../formats/transcripts/columns.ts';
import type { NamedEncoding } from '../sources/open-source.ts';
import { configOf, type SourceSnapshot } from '../sources/sources-file.ts';
import { hasColumn } from './examine.ts';
import { columnLabel } from '../../formats/record.ts';

/** Max column names to keep for a message. */
const MAX_NAMES = 20;

/** Whether the user named this file, rather than a folder or a glob that it was found by. */
export function isNamedFile(source: Pick<SourceSnapshot, 'absolute'>, config: SourceConfig): boolean {
  return encodePath(config.path) === source.absolute;
}

/** The configured encoding of a file, if any. */
export function configuredEncoding({ encoding }: SourceConfig, isNamed: boolean): NamedEncoding | null {
  return encoding === null ? null : { label: encoding, isForFolder: !isNamed };
}

/** Names of columns that may contain the id, in order of preference. */
export function idColumnNames({ idColumn }: SourceConfig, isNamed: boolean): readonly string[] {
  if (idColumn === null) return ID_NAMES;
  return isNamed ? [idColumn] : [idColumn, ...ID_NAMES];
}

/**
 * Requested columns that no inspected file has yet. For a folder, a column applies to the files that have it; one that
 * no file has was mistyped.
 */
export class WantedColumns {
  /** Names that no file has so far. */
  readonly #missing: Set<string>;
  readonly #seen = new Set<string>();

  /** Settings that apply to no file, such as those of a glob without files, require no column. */
  constructor(sources: readonly SourceSnapshot[], configs: readonly SourceConfig[]) {
    const used = new Map(sources.map((source) => [`${source.corpus} ${source.settings}`, source]));
    this.#missing = new Set([...used.values()].flatMap((source) => wantedOf(configOf(source, configs))));
  }

  /** Whether a column is still missing that is requested for files with this configuration. */
  isMissing(config: SourceConfig): boolean {
    return wantedOf(config).some((name) => this.#missing.has(name));
  }

  /** Records the columns of a file with this configuration. */
  see(config: SourceConfig, columns: readonly string[]): void {
    if (this.#missing.size === 0) return;
    for (const name of wantedOf(config)) {
      if (hasColumn(columns, name)) this.#missing.delete(name);
    }
    for (const [index, name] of columns.entries()) {
      if (this.#seen.size >= MAX_NAMES) return;
      this.#seen.add(columnLabel(name, index + 1));
    }
  }

  /** Stops requiring columns, because not all files can be inspected. */
  giveUp(): void {
    this.#missing.clear();
  }

  /** Failure('usage') if a requested column was not in any file. */
  requireAll(): void {
    const names = [...this.#missing].map((name) => JSON.stringify(name));
    if (names.length === 0) return;
    const seen =
      this.#seen.size === 0 ? 'none of them has columns' : `they have: ${[...this.#seen].join(', ')}`;
    throw new Failure('usage', `no file of the sources has a column ${names.join(', ')}; ${seen}`);
  }
}

function wantedOf({ textColumns, idColumn }: SourceConfig): readonly string[] {
  return [...(textColumns ?? []), ...(idColumn === null ? [] : [idColumn])];
}
