import { useEffect, useRef } from 'preact/hooks';
import type { ComponentChildren, RefObject } from 'preact';
import { Button } from '../../ui/button.tsx';
import { count } from '../../ui/format.ts';
import { filtersSet, NO_FILTER, type ItemSort } from '../place.ts';
import type { ReviewList } from '../review-list.ts';

const SORTS: readonly (readonly [ItemSort, string])[] = [
  ['open', 'Open first'],
  ['severity', 'Most severe first'],
  ['uncertainty', 'Most uncertain first'],
  ['score_up', 'Lowest score first'],
  ['latency', 'Slowest first'],
  ['corpus', 'In corpus order'],
];

/** Delay between the last key and the search, in milliseconds. */
const TYPING_MS = 250;

/** Limit of the API. */
const MAX_SEARCH = 200;

interface FilterBarProps {
  readonly list: ReviewList;
  readonly search: RefObject<HTMLInputElement | null>;
  readonly open: boolean;
  readonly toggle: () => void;
  /** Starts a decision on all items found. */
  readonly decideAll: () => void;
  /** The choice between list and grid. */
  readonly views: ComponentChildren;
  /** Review progress. */
  readonly reviewed: ComponentChildren;
}

/** The search, the order, and the button for the filters. */
export function FilterBar({ list, search, open, toggle, decideAll, views, reviewed }: FilterBarProps) {
  const typing = useRef(0);
  useEffect(() => () => clearTimeout(typing.current), []);
  const typed = (text: string): void => {
    clearTimeout(typing.current);
    typing.current = window.setTimeout(
      () => list.ask({ filter: { ...list.filter.value, search: text } }),
      TYPING_MS,
    );
  };
  const set = filtersSet(list.filter.value);
  const total = list.total.value;

  return (
    <div class="filter-bar">
      <input
        ref={search}
        type="search"
        aria-label="Search ids and paths"
        placeholder="Search ids and paths  /"
        maxLength={MAX_SEARCH}
        defaultValue={list.filter.value.search}
        key={list.filter.value.search === '' ? 'empty' : 'search'}
        onInput={(event) => typed(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' || event.key === 'Enter') event.currentTarget.blur();
        }}
      />
      <select
        aria-label="Order"
        value={list.sort.value}
        onChange={(event) => list.ask({ sort: event.currentTarget.value as ItemSort })}
      >
        {SORTS.map(([sort, words]) => (
          <option key={sort} value={sort}>
            {words}
          </option>
        ))}
      </select>
      <Button onClick={toggle} aria-expanded={open}>
        Filters{set > 0 && ` (${set})`} <kbd>f</kbd>
      </Button>
      {set > 0 && (
        <Button kind="quiet" onClick={() => list.ask({ filter: NO_FILTER })}>
          Clear
        </Button>
      )}
      <Button onClick={decideAll} disabled={!total}>
        Decide on all …
      </Button>
      {views}
      {reviewed}
      <span class="total">{total === null ? '…' : `${count(total)} ${total === 1 ? 'item' : 'items'}`}</span>
    </div>
  );
}
