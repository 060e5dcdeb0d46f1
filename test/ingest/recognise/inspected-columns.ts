import type { Inspection } from '../../../src/ingest/recognise/inspect.ts';

interface Columns {
  readonly path: string;
  readonly columns: readonly string[];
}

/** What an inspection says of columns: those that are not judged beside others, and those of tables without any text. */
export function inspectedColumns({ tables }: Inspection): {
  unjudgedColumns: Columns[];
  withoutText: Columns[];
} {
  const of = (isWithout: boolean): Columns[] =>
    tables
      .filter(({ chosen_by, not_judged }) => (chosen_by === 'nothing') === isWithout && not_judged.length > 0)
      .map(({ path, not_judged: columns }) => ({ path, columns }));
  return { unjudgedColumns: of(false), withoutText: of(true) };
}
