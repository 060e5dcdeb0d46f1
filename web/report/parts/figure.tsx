import type { JSX } from 'preact';

/** A drawn chart. `svg` is markup that we made; it holds no text from a record. */
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
