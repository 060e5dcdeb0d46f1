/** Turns table headings into buttons that sort the rows, and opens collapsed parts for printing. */

for (const table of document.querySelectorAll<HTMLTableElement>('table[data-sortable]')) makeSortable(table);

const opened = new Set<HTMLDetailsElement>();

addEventListener('beforeprint', () => {
  for (const folded of document.querySelectorAll<HTMLDetailsElement>('details:not([open])')) {
    folded.open = true;
    opened.add(folded);
  }
});
addEventListener('afterprint', () => {
  for (const each of opened) each.open = false;
  opened.clear();
});

function makeSortable(table: HTMLTableElement): void {
  const heads = [...table.querySelectorAll<HTMLTableCellElement>('thead th')];
  for (const [column, head] of heads.entries()) {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const isNumeric = head.classList.contains('number');
      const before = head.getAttribute('aria-sort');
      const first = isNumeric ? 'descending' : 'ascending';
      const second = isNumeric ? 'ascending' : 'descending';
      const order = before === first ? second : first;
      for (const each of heads) each.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', order);
      sortRows(table.tBodies[0]!, column, order === 'ascending' ? 1 : -1);
    });
  }
}

function sortRows(body: HTMLTableSectionElement, column: number, sign: number): void {
  const keyOf = (row: HTMLTableRowElement): string => {
    const cell = row.cells[column]!;
    return cell.dataset['by'] ?? cell.textContent ?? '';
  };
  const keyed = [...body.rows].map((row) => ({ row, key: keyOf(row) }));
  keyed.sort((a, b) => sign * compare(a.key, b.key));
  body.append(...keyed.map(({ row }) => row));
}

function compare(a: string, b: string): number {
  const difference = Number(a) - Number(b);
  return Number.isNaN(difference) ? a.localeCompare(b) : difference;
}
