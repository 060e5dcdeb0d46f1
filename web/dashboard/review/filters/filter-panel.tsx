import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Facets, ItemFilter } from '../../../../src/dashboard/api/items.ts';
import { CATEGORY_KEYS } from '../../../../src/domain/taxonomy.ts';
import { MODALITIES } from '../../../../src/domain/request.ts';
import { ITEM_CODES } from '../../../../src/domain/item-error.ts';
import { categoryLabel } from '../../item/words.ts';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { count } from '../../ui/format.ts';
import { Histogram } from '../histogram.tsx';
import type { ReviewList } from '../review-list.ts';
import { useLoad } from '../../api/use-load.ts';
import { fetchFacets } from '../review-api.ts';
import { TextSearch } from './text-search.tsx';

interface Choice<T extends string> {
  readonly value: T;
  readonly label: ComponentChildren;
  readonly items: number;
}

interface GroupProps<T extends string> {
  readonly title: string;
  readonly choices: readonly Choice<T>[];
  readonly chosen: readonly T[];
  readonly choose: (chosen: T[]) => void;
}

/** A group of checkboxes. Choices that would find nothing are omitted, unless they are selected. */
function Group<T extends string>({ title, choices, chosen, choose }: GroupProps<T>) {
  const shown = choices.filter(({ value, items }) => items > 0 || chosen.includes(value));
  if (shown.length === 0) return null;
  return (
    <fieldset>
      <legend>{title}</legend>
      {shown.map(({ value, label, items }) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={(event) => {
              const others = chosen.filter((other) => other !== value);
              choose(event.currentTarget.checked ? [...others, value] : others);
            }}
          />
          <span class="choice-label">{label}</span>
          <span class="choice-count">{count(items)}</span>
        </label>
      ))}
    </fieldset>
  );
}

const DECISIONS = [
  { value: 'block', label: 'Block' },
  { value: 'review', label: 'Review' },
  { value: 'allow', label: 'Allow' },
  { value: 'error', label: 'Not judged' },
] as const;

const REVIEWS = [
  ['any', 'Any'],
  ['open', 'Open'],
  ['reopened', 'Reopened'],
  ['agreed', 'Agreed'],
  ['overturned', 'Overturned'],
] as const;

/** Filters with the number of items that each would find. */
export function FilterPanel({ list, close }: { readonly list: ReviewList; readonly close: () => void }) {
  const filter = list.filter.value;
  const { value: facets, error } = useLoad(JSON.stringify([list.run, filter]), (signal) =>
    fetchFacets(list.run, filter, signal),
  );
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.querySelector('input')?.focus(), [facets === null]);
  return (
    <aside
      ref={panel}
      class="filter-panel"
      aria-label="Filters"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        close();
      }}
    >
      {error !== null && <p role="alert">The filters could not be counted: {error.message}</p>}
      {facets !== null && <Groups list={list} facets={facets} />}
      {facets !== null && <TextSearch list={list} />}
    </aside>
  );
}

function Groups({ list, facets }: { readonly list: ReviewList; readonly facets: Facets }) {
  const filter = list.filter.value;
  const set = (change: Partial<ItemFilter>): void => list.ask({ filter: { ...filter, ...change } });
  const { open, reopened } = facets.reviews;
  const reviews = { ...facets.reviews, open: open + reopened };
  const counts = (items: Readonly<Record<string, number>>, value: string): number => items[value] ?? 0;

  return (
    <>
      {facets.fresh !== null && (
        <label>
          <input
            type="checkbox"
            checked={filter.fresh}
            onChange={(event) => set({ fresh: event.currentTarget.checked })}
          />
          <span class="choice-label">New since the last run</span>
          <span class="choice-count">{count(facets.fresh)}</span>
        </label>
      )}
      <Group
        title="Decision"
        choices={DECISIONS.map(({ value, label }) => ({ value, label, items: facets.decisions[value] }))}
        chosen={filter.decisions}
        choose={(decisions) => set({ decisions })}
      />
      <Group
        title="Category"
        choices={([...CATEGORY_KEYS, 'other', 'none'] as const).map((value) => ({
          value,
          label: categoryLabel(value),
          items: counts(facets.categories, value),
        }))}
        chosen={filter.categories}
        choose={(categories) => set({ categories })}
      />
      <fieldset>
        <legend>Reviewed</legend>
        {REVIEWS.map(([value, label]) => (
          <label key={value}>
            <input
              type="radio"
              name="reviewed"
              checked={filter.review === value}
              onChange={() => set({ review: value })}
            />
            <span class="choice-label">{label}</span>
            <span class="choice-count">{value === 'any' ? '' : count(reviews[value])}</span>
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>Score</legend>
        <Histogram bins={facets.scores} />
        <div class="range">
          <Bound label="From" value={filter.minScore} change={(minScore) => set({ minScore })} />
          <Bound label="to" value={filter.maxScore} change={(maxScore) => set({ maxScore })} />
        </div>
      </fieldset>
      <Group
        title="Kind"
        choices={MODALITIES.map((value) => ({
          value,
          label: value,
          items: counts(facets.modalities, value),
        }))}
        chosen={filter.modalities}
        choose={(modalities) => set({ modalities })}
      />
      <Group
        title="Corpus"
        choices={facets.corpora.map(({ corpus, items }) => ({
          value: corpus,
          label: <UntrustedText text={corpus} max={60} />,
          items,
        }))}
        chosen={filter.corpora}
        choose={(corpora) => set({ corpora })}
      />
      <Group
        title="Not judged because of"
        choices={ITEM_CODES.map((value) => ({
          value,
          label: <code>{value}</code>,
          items: counts(facets.error_codes, value),
        }))}
        chosen={filter.errorCodes}
        choose={(errorCodes) => set({ errorCodes })}
      />
    </>
  );
}

interface BoundProps {
  readonly label: string;
  readonly value: number | null;
  readonly change: (value: number | null) => void;
}

function Bound({ label, value, change }: BoundProps) {
  return (
    <label>
      {label}{' '}
      <input
        type="number"
        min={0}
        max={1}
        step={0.01}
        value={value ?? ''}
        onChange={(event) => {
          const { valueAsNumber } = event.currentTarget;
          change(Number.isNaN(valueAsNumber) ? null : Math.min(1, Math.max(0, valueAsNumber)));
        }}
      />
    </label>
  );
}
