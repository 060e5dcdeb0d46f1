import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ItemRow } from '../../../src/dashboard/api/items.ts';
import { categoryLabel, probability } from '../item/words.ts';
import { Badge, DecisionBadge } from '../ui/badge.tsx';
import { Foreign } from '../ui/foreign.tsx';
import { Icon } from '../ui/icon.tsx';
import { PAGE_ROWS } from './item-pages.ts';
import type { Reviewing } from './reviewing.ts';

/** Categories that a row names; of more, how many. */
const MAX_CATEGORIES = 3;

interface ItemListProps {
  readonly reviewing: Reviewing;
  readonly rows: readonly ItemRow[];
  readonly open: (row: ItemRow) => void;
  /** Whether a press on a row opens it, because nothing of it is shown beside the list. */
  readonly pressOpens: boolean;
}

const idOf = (row: ItemRow): string => `row-${row.seq}`;

/** A page of the list, as a list box: the arrow keys select, Enter opens. */
export function ItemList({ reviewing, rows, open, pressOpens }: ItemListProps) {
  const { list } = reviewing;
  const box = useRef<HTMLDivElement>(null);
  const first = list.page.value * PAGE_ROWS;
  const selected = rows[list.position.value - first];

  useLayoutEffect(() => {
    box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [selected]);

  const pressed = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { value: position } = list.position;
    if (event.key === 'ArrowDown') reviewing.move(1);
    else if (event.key === 'ArrowUp') reviewing.move(-1);
    else if (event.key === 'PageDown') reviewing.move(10);
    else if (event.key === 'PageUp') reviewing.move(-10);
    else if (event.key === 'Home') reviewing.move(-position);
    else if (event.key === 'End') reviewing.move((list.total.value ?? 0) - 1 - position);
    else if (event.key === 'Enter' && selected !== undefined) open(selected);
    else return;
    event.preventDefault();
  };

  return (
    <div
      ref={box}
      class="item-list"
      role="listbox"
      aria-label="Items"
      tabIndex={0}
      aria-activedescendant={selected === undefined ? undefined : idOf(selected)}
      onKeyDown={pressed}
    >
      {rows.map((row, index) => (
        <Row
          key={row.seq}
          row={row}
          review={reviewing.shownReview(row)}
          saving={reviewing.queue.unsaved.value.get(row.seq)?.state ?? null}
          position={first + index}
          total={list.total.value ?? 0}
          selected={row === selected}
          press={() => {
            list.select(first + index);
            if (pressOpens) open(row);
          }}
          open={() => open(row)}
        />
      ))}
    </div>
  );
}

interface RowProps {
  readonly row: ItemRow;
  readonly review: ItemRow['review'];
  readonly saving: 'saving' | 'failed' | null;
  readonly position: number;
  readonly total: number;
  readonly selected: boolean;
  readonly press: () => void;
  readonly open: () => void;
}

function Row({ row, review, saving, position, total, selected, press, open }: RowProps) {
  return (
    <div
      id={idOf(row)}
      role="option"
      class="item-row"
      aria-selected={selected}
      aria-posinset={position + 1}
      aria-setsize={total}
      onClick={press}
      onDblClick={open}
    >
      <span class="row-decision">
        <DecisionBadge decision={row.decision} />
      </span>
      <span class="row-score">{row.score === null ? '' : probability(row.score)}</span>
      <span class="row-why">
        <Why row={row} />
      </span>
      <span class="row-place">
        <span class="row-id">
          <Foreign text={row.id} max={80} />
        </span>{' '}
        · {row.modality ?? 'file'} · <Foreign text={endOf(row.path)} max={120} />
        {row.row !== null && `:${row.row}`}
        {row.turn !== null && ` turn ${row.turn}`}
      </span>
      <span class="row-review">
        <ReviewState review={review} saving={saving} />
      </span>
    </div>
  );
}

/** The part of a path that tells it from its neighbours. */
function endOf(path: string): string {
  return path.length > 60 ? `…${path.slice(-59)}` : path;
}

function Why({ row }: { readonly row: ItemRow }) {
  if (row.error_code !== null) return <code>{row.error_code}</code>;
  const more = row.categories.length - MAX_CATEGORIES;
  return (
    <>
      {row.restricted && (
        <span class="restricted-mark">
          <Icon name="lock" /> never shown{' '}
        </span>
      )}
      {row.categories.slice(0, MAX_CATEGORIES).map((key, index) => (
        <span key={key}>
          {index > 0 && ', '}
          <Foreign text={categoryLabel(key)} max={40} />
        </span>
      ))}
      {more > 0 && ` and ${more} more`}
      {row.categories.length === 0 && row.decision !== 'allow' && 'no category'}
    </>
  );
}

function ReviewState({ review, saving }: Pick<RowProps, 'review' | 'saving'>) {
  if (saving === 'failed')
    return (
      <Badge tone="block" icon="alert">
        not saved
      </Badge>
    );
  if (review === null) return null;
  return (
    <span class={`reviewed ${saving ?? ''}`}>
      <Icon name={review.agrees ? 'check' : review.decision} />
      {review.agrees ? 'agreed' : review.decision}
    </span>
  );
}
