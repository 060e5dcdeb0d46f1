import type { JSX } from 'preact';
import type { CauseRow, ReportData } from '../../../src/report/html/report-data.ts';
import { conversionAdvice, OTHER_FILES, OTHER_HELP } from '../../../src/domain/words/file-kinds.ts';
import { formatCount, number } from '../format.ts';
import { ItemPlace } from '../parts/item-place.tsx';
import { Name } from '../parts/name.tsx';
import { Section } from '../parts/section.tsx';
import { cell, Table } from '../parts/table.tsx';

/** Items that were not judged, one line per cause with its fix; its files are collapsed below it. */
export function Errors({ data: { notJudged, summary } }: { readonly data: ReportData }): JSX.Element {
  return (
    <Section id="errors" title="What was not judged">
      {notJudged.length === 0 && <p>No item ended in an error.</p>}
      {notJudged.map((cause) => (
        <details class="cause">
          <summary>
            <b>{number(cause.items)}</b> <span>{cause.brief}</span>
          </summary>
          <p>
            <code class="whole">{cause.code}</code>: {cause.full}
            {cause.retryable && '; try these again with retry'}.
          </p>
          <Files cause={cause} kinds={summary.unsupported_files} />
        </details>
      ))}
    </Section>
  );
}

function Files({
  cause: { code, reason, brief, items, files },
  kinds,
}: {
  readonly cause: CauseRow;
  readonly kinds: ReportData['summary']['unsupported_files'];
}): JSX.Element {
  const hasAdvice = files.some(({ advice }) => advice !== null);
  const more = items - files.reduce((sum, file) => sum + file.items, 0);
  return (
    <>
      {reason === 'file_type' && more > 0 && <Kinds kinds={kinds} />}
      {files.length > 0 && (
        <Table
          caption={`Files with ${code}: ${brief}`}
          columns={[
            { name: 'File' },
            { name: 'Items', numeric: true },
            { name: 'Why' },
            ...(hasAdvice ? [{ name: 'What to do' }] : []),
          ]}
          rows={files.map((file) => [
            cell(<ItemPlace item={file.item} />, file.item.path),
            cell(number(file.items), file.items),
            cell(<Name text={file.item.error ?? ''} />),
            ...(hasAdvice ? [cell(file.advice ?? '')] : []),
          ])}
        />
      )}
      {more > 0 && (
        <p class="note">
          {formatCount(more, 'item')} of other files: <code>errors.jsonl</code> lists all of them.
        </p>
      )}
    </>
  );
}

/** The types of the unread files, if there are more files than listed. */
function Kinds({ kinds }: { readonly kinds: ReportData['summary']['unsupported_files'] }): JSX.Element {
  return (
    <Table
      caption="Files of types that are not read"
      columns={[{ name: 'Type' }, { name: 'Files', numeric: true }, { name: 'What to do' }]}
      rows={Object.entries(kinds)
        .sort(([, a], [, b]) => b - a)
        .map(([name, count]) => [
          cell(name === OTHER_FILES ? 'others' : <Name text={name} />, name),
          cell(number(count), count),
          cell(conversionAdvice(name) ?? OTHER_HELP),
        ])}
    />
  );
}
