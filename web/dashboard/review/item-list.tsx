import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { ItemRow } from '../../../src/dashboard/api/items.ts';
import type { RunDetail } from '../../../src/dashboard/api/runs.ts';
import { PAGE_ROWS } from './item-pages.ts';
import type { Reviewing } from './reviewing.ts';
import { idOf, Row, type RowProps } from './rows/row.tsx';
import { RevealTile, Tile } from './rows/tile.tsx';

interface ItemListProps {
  readonly reviewing: Reviewing;
  readonly rows: readonly ItemRow[];
  readonly open: (row: ItemRow) => void;
  /** Whether pressing a row opens it, because the item is not shown next to the list. */
  readonly pressOpens: boolean;
  /** The run, if its items are shown as tiles. */
  readonly tilesOf: RunDetail | null;
}

/** A page of the list, as a list box: the arrow keys select, Enter opens. */
export function ItemList({ reviewing, rows, open, pressOpens, tilesOf }: ItemListProps) {
  const { list } = reviewing;
  const box = useRef<HTMLDivElement>(null);
  const first = list.page.value * PAGE_ROWS;
  const selected = rows[list.position.value - first];
  const cleared = useSignal<ReadonlySet<number>>(new Set());
  // Tiles are blurred again when somebody returns to a page.
  useEffect(() => void (cleared.value = new Set()), [first]);

  useLayoutEffect(() => {
    box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [selected]);

  const pressed = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { value: position } = list.position;
    const columns = tilesOf === null ? 1 : columnsOf(event.currentTarget as HTMLElement);
    if (event.key === 'ArrowDown') reviewing.move(columns);
    else if (event.key === 'ArrowUp') reviewing.move(-columns);
    else if (event.key === 'ArrowRight' && tilesOf !== null) reviewing.move(1);
    else if (event.key === 'ArrowLeft' && tilesOf !== null) reviewing.move(-1);
    else if (event.key === 'PageDown') reviewing.move(10);
    else if (event.key === 'PageUp') reviewing.move(-10);
    else if (event.key === 'Home') reviewing.move(-position);
    else if (event.key === 'End') reviewing.move((list.total.value ?? 0) - 1 - position);
    else if (event.key === 'Enter' && selected !== undefined) open(selected);
    else return;
    event.preventDefault();
  };

  const option = (row: ItemRow, index: number): RowProps => ({
    row,
    saving: reviewing.saving.value === row.seq,
    failed: reviewing.failed.value?.seq === row.seq,
    position: first + index,
    total: list.total.value ?? 0,
    selected: row === selected,
    press: () => {
      list.select(first + index);
      if (pressOpens) open(row);
    },
    open: () => open(row),
  });
  return (
    <>
      {tilesOf !== null && <RevealTile row={selected} run={tilesOf} cleared={cleared} />}
      <div
        ref={box}
        class={`item-list ${tilesOf === null ? '' : 'tiles'}`}
        role="listbox"
        aria-label="Items"
        tabIndex={0}
        aria-activedescendant={selected === undefined ? undefined : idOf(selected)}
        onKeyDown={pressed}
      >
        {rows.map((row, index) =>
          tilesOf === null ? (
            <Row key={row.seq} {...option(row, index)} />
          ) : (
            <Tile key={row.seq} {...option(row, index)} run={tilesOf} clear={cleared.value.has(row.seq)} />
          ),
        )}
      </div>
    </>
  );
}

/** Number of tiles in a row. */
function columnsOf(grid: HTMLElement): number {
  return getComputedStyle(grid).gridTemplateColumns.split(' ').length;
}
