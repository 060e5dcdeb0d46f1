import type { SourceConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { columnLabel } from './column-label.ts';
import { hasColumn } from './examine.ts';

/** Most names of columns that are remembered for a message. */
const MAX_NAMES = 20;

/**
 * The columns that were asked for, until a file is found that has them. Asked of a folder, a column holds for the files
 * that have it; one that no file has was mistyped.
 */
export class WantedColumns {
  readonly #configs: readonly SourceConfig[];
  /** Names no file was seen to have so far. */
  readonly #missing: Set<string>;
  readonly #seen = new Set<string>();

  constructor(configs: readonly SourceConfig[]) {
    this.#configs = configs;
    this.#missing = new Set(configs.flatMap(wantedOf));
  }

  /** Whether a file of a corpus may have a column that was not seen yet. */
  isOpen(corpus: number): boolean {
    return wantedOf(this.#configs[corpus]!).some((name) => this.#missing.has(name));
  }

  /** Takes note of the columns of a file of a corpus. */
  see(corpus: number, columns: readonly string[]): void {
    if (this.#missing.size === 0) return;
    for (const name of wantedOf(this.#configs[corpus]!)) {
      if (hasColumn(columns, name)) this.#missing.delete(name);
    }
    for (const [index, name] of columns.entries()) {
      if (this.#seen.size >= MAX_NAMES) return;
      this.#seen.add(columnLabel(name, index + 1));
    }
  }

  /** Asks for nothing any more: not all files can be looked at. */
  giveUp(): void {
    this.#missing.clear();
  }

  /** Failure('usage') when no file has a column that was asked for. */
  refuse(): void {
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
