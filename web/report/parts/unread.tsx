import type { JSX } from 'preact';
import type { ReportData } from '../../../src/report/html/report-data.ts';
import { conversionAdvice, OTHER_FILES, OTHER_HELP } from '../../../src/domain/words/file-kinds.ts';
import { number } from '../format.ts';
import { Name } from './name.tsx';
import { cell, Table } from './table.tsx';

/** Files and columns that were not judged, all of them, with what to do about each. */
export function Unread({ data: { summary } }: { readonly data: ReportData }): JSX.Element {
  const { other_encodings = [], without_header = [], fitted_headers } = summary;
  const kinds = Object.entries(summary.unsupported_files).sort(([, a], [, b]) => b - a);
  const tables = summary.tables ?? [];
  return (
    <>
      {kinds.length > 0 && (
        <Table
          caption="Files of types that are not read"
          columns={[{ name: 'Type' }, { name: 'Files', numeric: true }, { name: 'What to do' }]}
          rows={kinds.map(([name, count]) => [
            cell(name === OTHER_FILES ? 'others' : <Name text={name} />, name),
            cell(number(count), count),
            cell(conversionAdvice(name) ?? OTHER_HELP),
          ])}
        />
      )}
      {other_encodings.length > 0 && (
        <Table
          caption="Files that are not UTF-8"
          columns={[{ name: 'Most likely' }, { name: 'Files' }]}
          rows={other_encodings.map(({ encoding, paths }) => [
            cell(encoding === null ? 'not recognised' : `--encoding ${encoding}`),
            cell(<Names all={paths} />),
          ])}
        />
      )}
      {tables.length > 0 && (
        <Table
          caption="Columns of tables; --text-column names others"
          columns={[{ name: 'Files' }, { name: 'Judged' }, { name: 'Not judged' }, { name: 'Chosen by' }]}
          rows={tables.map(({ judged, not_judged, chosen_by, path, files }) => [
            cell(
              <>
                <Name text={path} />
                {files > 1 && ` and ${number(files - 1)} more`}
              </>,
            ),
            cell(judged.length === 0 ? 'none' : <Names all={judged} />),
            cell(<Names all={not_judged} />),
            cell(chosen_by),
          ])}
        />
      )}
      {without_header.length > 0 && (
        <p>
          The first row was taken as data (to have it name the columns: <code>--header yes</code>):{' '}
          <Names all={without_header} />
        </p>
      )}
      {fitted_headers.length > 0 && (
        <p>
          The header was fitted to the width of the rows: <Names all={fitted_headers} />
        </p>
      )}
    </>
  );
}

function Names({ all }: { readonly all: readonly string[] }): JSX.Element {
  return (
    <>
      {all.map((text, index) => (
        <>
          {index > 0 && ', '}
          <Name text={text} />
        </>
      ))}
    </>
  );
}
