import type { JSX } from 'preact';
import type { ReportItem } from '../../../src/report/html/report-data.ts';
import { number } from '../format.ts';
import { Name } from './name.tsx';

/** The item's location, with a link to its file if a link is allowed. */
export function ItemPlace({ item }: { readonly item: ReportItem }): JSX.Element {
  const { id, path, row, part, turn, file } = item;
  return (
    <>
      {file?.startsWith('file:') ? (
        <a href={file} rel="noreferrer">
          <Name text={path} />
        </a>
      ) : (
        <Name text={path} />
      )}
      {row !== null && (
        <small>
          {' '}
          row {number(row)}, <Name text={id} />
        </small>
      )}
      {turn !== null && <small> turn {number(turn)}</small>}
      {part !== null && (
        <small>
          {' '}
          <Name text={part} />
        </small>
      )}
    </>
  );
}
