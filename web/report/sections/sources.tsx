import type { JSX } from 'preact';
import type { ReportData } from '../../../src/report/html/report-data.ts';
import { number } from '../format.ts';
import { Name } from '../parts/name.tsx';
import { Fold } from '../parts/section.tsx';
import { cell, Table } from '../parts/table.tsx';
import { Groups } from './groups.tsx';

/** The contents of each source, and the files and columns that were not judged. */
export function Sources({ data }: { readonly data: ReportData }): JSX.Element {
  const { without_header = [], fitted_headers, tables = [], skipped, empty_sources: empty } = data.summary;
  const left = Object.entries(skipped).slice(0, 20);
  return (
    <Fold id="sources" title="Sources">
      <Groups title="By corpus" first="Corpus" rows={data.corpora} />
      {data.modalities.length > 1 && <Groups title="By modality" first="Modality" rows={data.modalities} />}
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
      {empty.count > 0 && (
        <p>
          Files without items: <Names all={empty.paths} />
          {empty.count > empty.paths.length && ` and ${number(empty.count - empty.paths.length)} more`}
        </p>
      )}
      {left.length > 0 && (
        <p>
          Files left out: <Names all={left.map(([reason, count]) => `${reason} (${number(count)})`)} />
        </p>
      )}
    </Fold>
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
