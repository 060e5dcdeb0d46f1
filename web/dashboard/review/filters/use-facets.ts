import { useEffect, useState } from 'preact/hooks';
import type { Facets, ItemFilter } from '../../../../src/dashboard/api/items.ts';
import { fetchFacets, indexed, messageOf } from '../review-api.ts';

export interface KnownFacets {
  /** Those of the filter before, until those of this one are there. */
  readonly facets: Facets | null;
  readonly problem: string | null;
}

/** Counts what can be filtered. */
export function useFacets(run: string, filter: ItemFilter): KnownFacets {
  const [known, setKnown] = useState<KnownFacets>({ facets: null, problem: null });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    indexed(
      () => fetchFacets(run, filter, signal),
      signal,
      () => undefined,
    ).then(
      (facets) => setKnown({ facets, problem: null }),
      (error: unknown) => {
        if (!signal.aborted) setKnown({ facets: null, problem: messageOf(error) });
      },
    );
    return () => controller.abort();
  }, [run, filter]);
  return known;
}
