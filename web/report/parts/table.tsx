import type { ComponentChildren, JSX } from 'preact';

interface Column {
  readonly name: string;
  readonly numeric?: boolean;
}

interface TableProps {
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** A row of totals, which stays below the others. */
  readonly total?: readonly Cell[] | undefined;
}

/** A cell's content and its sort key; null sorts by the content. */
export interface Cell {
  readonly show: ComponentChildren;
  readonly by: number | string | null;
}

export function cell(show: ComponentChildren, by: number | string | null = null): Cell {
  return { show, by };
}

/** A table that the page's script makes sortable. The first column names the row. */
export function Table({ caption, columns, rows, total }: TableProps): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table data-sortable={rows.length > 1 ? '' : undefined}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, numeric }) => (
              <th scope="col" class={numeric ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <Row columns={columns} cells={cells} />
          ))}
        </tbody>
        {total && (
          <tfoot>
            <Row columns={columns} cells={total} />
          </tfoot>
        )}
      </table>
    </div>
  );
}

function Row({
  columns,
  cells,
}: {
  readonly columns: readonly Column[];
  readonly cells: readonly Cell[];
}): JSX.Element {
  return (
    <tr>
      {cells.map(({ show, by }, index) => {
        const props = { class: columns[index]?.numeric ? 'number' : undefined, 'data-by': by ?? undefined };
        return index === 0 ? (
          <th scope="row" {...props}>
            {show}
          </th>
        ) : (
          <td {...props}>{show}</td>
        );
      })}
    </tr>
  );
}
