import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { TextHits } from '../../../../src/dashboard/api/items.ts';
import { Button } from '../../ui/button.tsx';
import { count, formatCount } from '../../ui/format.ts';
import { apiErrorMessage, searchTexts } from '../review-api.ts';
import type { ReviewList } from '../review-list.ts';

/** Limit of the API. */
const MAX_HITS = 1000;

/** Finds items by their texts, among those that pass the other filters. Search terms are not stored. */
export function TextSearch({ list }: { readonly list: ReviewList }) {
  const input = useRef<HTMLInputElement>(null);
  const state = useSignal<'idle' | 'searching' | { readonly failed: string }>('idle');
  const found = useSignal<TextHits | null>(null);
  const controller = useRef(new AbortController());
  useEffect(() => () => controller.current.abort(), []);

  const search = async (before: TextHits | null): Promise<void> => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    state.value = 'searching';
    try {
      const filter = { ...list.filter.value, seqs: null };
      const body = { text: input.current!.value, filter, from: before?.next ?? 0 };
      const hits = await searchTexts(list.run, body, signal);
      const seqs = [...(before?.seqs ?? []), ...hits.seqs].slice(-MAX_HITS);
      found.value = { ...hits, seqs, searched: (before?.searched ?? 0) + hits.searched };
      state.value = 'idle';
      list.ask({ filter: { ...filter, seqs } });
    } catch (error) {
      state.value = signal.aborted ? 'idle' : { failed: apiErrorMessage(error) };
    }
  };
  const isFiltered = list.filter.value.seqs !== null;
  return (
    <form
      class="text-search"
      onSubmit={(event) => {
        event.preventDefault();
        void search(null);
      }}
    >
      <fieldset>
        <legend>In the texts</legend>
        <input
          ref={input}
          type="search"
          aria-label="Search in the texts"
          minLength={2}
          maxLength={200}
          required
          autocomplete="off"
        />
        {state.value === 'searching' ? (
          <Button class="button-small" onClick={() => controller.current.abort()}>
            Stop
          </Button>
        ) : (
          <Button class="button-small" type="submit">
            Search
          </Button>
        )}
        <p class="hint">Contents are read for this; that you searched is logged, and what for is not.</p>
        <p role="status">
          {state.value === 'searching' && 'Searching …'}
          {typeof state.value === 'object' && state.value.failed}
          {state.value === 'idle' &&
            isFiltered &&
            found.value !== null &&
            `${formatCount(found.value.seqs.length, 'hit')} in ${count(found.value.searched)} texts.`}
        </p>
        {state.value === 'idle' && isFiltered && (
          <>
            {found.value?.next != null && (
              <Button class="button-small" onClick={() => void search(found.value)}>
                Search on from there
              </Button>
            )}
            <Button
              class="button-small"
              kind="quiet"
              onClick={() => list.ask({ filter: { ...list.filter.value, seqs: null } })}
            >
              All texts again
            </Button>
          </>
        )}
      </fieldset>
    </form>
  );
}
