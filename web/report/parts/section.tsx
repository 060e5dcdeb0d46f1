import type { ComponentChildren, JSX } from 'preact';

interface Part {
  readonly id: string;
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A part of the report that is collapsed on a screen, and open on paper. A link to `id` opens it. */
export function Fold({ id, title, children }: Part): JSX.Element {
  return (
    <details class="part">
      <summary>
        <h2>{title}</h2>
      </summary>
      <div id={id}>{children}</div>
    </details>
  );
}

/** A part of the report with its own heading. */
export function Section({ id, title, children }: Part): JSX.Element {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  );
}
