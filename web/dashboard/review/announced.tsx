import type { Reviewing } from './reviewing.ts';

/** Tells screen readers what was done, and where one is now. */
export function Announced({ reviewing }: { readonly reviewing: Reviewing }) {
  return (
    <div class="hidden" role="status" aria-live="polite">
      {reviewing.announced.value}
    </div>
  );
}
