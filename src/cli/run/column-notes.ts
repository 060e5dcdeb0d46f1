import { plural } from '../../domain/text/plural.ts';
import { shownName } from '../../domain/text/shown.ts';
import type { FileColumns, Inspection } from '../../ingest/recognise/inspect.ts';

/** Per kind; a folder may hold tables of many shapes, and a screen has little room. */
const MAX_LINES = 4;

/** Lines of the summary about columns that were not judged. Files with the same columns share a line. */
export function columnNotes({
  tables,
  unjudgedColumns,
  withoutText,
  withoutHeader,
  fittedHeaders,
}: Inspection): string[] {
  return [
    ...(withoutHeader.length === 0
      ? []
      : [
          `Read without a header, with the first row as data: ${filesOf(withoutHeader[0]!, withoutHeader.length)} (--header yes|no)`,
        ]),
    ...(fittedHeaders.length === 0
      ? []
      : [
          `Read with the width of the rows, which is not the header's: ${filesOf(fittedHeaders[0]!, fittedHeaders.length)}`,
        ]),
    ...bounded(
      tables
        .filter(({ chosen_by }) => chosen_by === 'content')
        .map(
          ({ path, files, judged }) =>
            `Judged as text by what they hold, in ${filesOf(path, files)}: ${judged.join(', ')} (--text-column for others)`,
        ),
    ),
    ...lines(
      unjudgedColumns,
      (files, columns) => `Columns not judged in ${files}: ${columns} (--text-column)`,
    ),
    ...lines(
      withoutText,
      (files, columns) =>
        `No text column was recognised in ${files}: choose with --text-column among ${columns}`,
    ),
  ];
}

function lines(
  all: readonly FileColumns[],
  say: (files: string, columns: string) => string,
): readonly string[] {
  const pathsByColumns = new Map<string, string[]>();
  for (const { path, columns } of all) {
    const key = columns.join(', ');
    const paths = pathsByColumns.get(key);
    if (paths === undefined) pathsByColumns.set(key, [path]);
    else paths.push(path);
  }
  return bounded(
    [...pathsByColumns].map(([columns, paths]) => say(filesOf(paths[0]!, paths.length), columns)),
  );
}

function bounded(said: readonly string[]): readonly string[] {
  const more = said.length - MAX_LINES;
  return more > 0 ? [...said.slice(0, MAX_LINES), `… and ${more} more such lines`] : said;
}

/** The first of some files, and the number of others. */
function filesOf(first: string, files: number): string {
  if (files === 1) return shownName(first);
  return `${shownName(first)} and ${files - 1} more ${plural(files - 1, 'file')}`;
}
