import type { ComponentChildren } from 'preact';

interface FactsProps {
  readonly title: string;
  readonly open: boolean;
  readonly children: ComponentChildren;
}

/** Names with their values, collapsed unless `open`. */
export function Facts({ title, open, children }: FactsProps) {
  return (
    <details class="card facts" open={open}>
      <summary>{title}</summary>
      <dl>{children}</dl>
    </details>
  );
}

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
