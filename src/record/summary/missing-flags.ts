import type { RunConfig } from '../../config/run-config.ts';
import type { Summary } from './summary.ts';

/** Flags that would let a new run judge more of the same sources. */
export interface MissingFlags {
  /** As command-line words that apply to all sources; empty if no flag would help. */
  readonly flags: readonly string[];
  /** Whether the flags contain the placeholder `NAME` for columns that only a person can choose. */
  readonly hasPlaceholder: boolean;
  /** Files that need a separate encoding. */
  readonly apart: readonly { readonly paths: readonly string[]; readonly encoding: string }[];
}

/** Combines what the corpora lack. `config` is that of the run, whose own flags are kept. */
export function missingFlags(
  { sources }: Pick<RunConfig, 'sources'>,
  { other_encodings = [], tables = [] }: Pick<Summary, 'other_encodings' | 'tables'>,
): MissingFlags {
  const isNamed = sources.some(({ encoding }) => encoding !== null);
  const known = other_encodings
    .flatMap(({ encoding, paths }) => (encoding === null ? [] : [{ encoding, paths }]))
    .sort((a, b) => b.paths.length - a.paths.length);
  const main = isNamed ? [] : known.slice(0, 1);
  const hasPlaceholder = tables.some(({ chosen_by }) => chosen_by === 'nothing');
  return {
    flags: [
      ...main.flatMap(({ encoding }) => ['--encoding', encoding]),
      ...(hasPlaceholder ? ['--text-column', 'NAME'] : []),
    ],
    hasPlaceholder,
    apart: known.slice(main.length),
  };
}
