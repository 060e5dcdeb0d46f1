import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly key: string;
  readonly header: ComponentChildren;
  /** `end`: numbers. */
  readonly align?: 'start' | 'end';
  /** Left out on a phone. */
  readonly wideOnly?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

interface Props<Row> {
  /** Says what the table holds; read out, and shown unless `captionHidden`. */
  readonly caption: string;
  readonly captionHidden?: boolean;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string | number;
}

/** A table that scrolls sideways by itself, with the keyboard as well, when it is too wide. The first column heads its row. */
export function DataTable<Row>({ caption, captionHidden = false, columns, rows, rowKey }: Props<Row>) {
  return (
    <div class="table-scroll" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class={captionHidden ? 'hidden' : ''}>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ key, header, ...style }) => (
              <th key={key} scope="col" class={classOf(style)}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map(({ key, cell, ...style }, position) =>
                position === 0 ? (
                  <th key={key} scope="row" class={classOf(style)}>
                    {cell(row)}
                  </th>
                ) : (
                  <td key={key} class={classOf(style)}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const classOf = ({ align = 'start', wideOnly = false }: Pick<Column<never>, 'align' | 'wideOnly'>): string =>
  `align-${align} ${wideOnly ? 'wide-only' : ''}`;
