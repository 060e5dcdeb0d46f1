/** Stands where something is being loaded. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div class="skeleton" role="status">
      <span class="hidden">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} class="skeleton-line" aria-hidden="true" />
      ))}
    </div>
  );
}
