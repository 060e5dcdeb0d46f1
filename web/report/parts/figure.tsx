import type { JSX } from 'preact';

/** A drawn chart. `svg` is our own markup and contains no text from a record. */
export function Figure({
  svg,
  title,
  name,
}: {
  readonly svg: string;
  readonly title: string;
  readonly name?: string;
}): JSX.Element {
  return (
    <figure class={name}>
      <figcaption>{title}</figcaption>
      <div dangerouslySetInnerHTML={{ __html: svg }} />
    </figure>
  );
}
