import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { escapeText } from '../../../src/domain/text/escape-text.ts';

interface Props {
  /** Also of the window. A foreign name is escaped. */
  readonly title: string;
  /** In place of the title in the heading: what does not belong into the history of a browser. */
  readonly heading?: ComponentChildren;
  /** Right beside the heading: what it is. */
  readonly beside?: ComponentChildren;
  /** On the line of the heading: what can be done on the page. */
  readonly actions?: ComponentChildren;
  /** Above the heading: where the page belongs. */
  readonly above?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Whether a page was shown before this one. */
let navigated = false;

/** A page with its heading. After navigation, the heading has the focus, as after a load. */
export function Page({ title, heading = escapeText(title, 80), beside, actions, above, children }: Props) {
  const focused = useRef<HTMLHeadingElement>(null);
  const name = escapeText(title, 80);
  useEffect(() => {
    document.title = `${name} · guardsweep`;
  }, [name]);
  useEffect(() => {
    if (navigated) focused.current?.focus({ preventScroll: true });
    if (navigated) scrollTo(0, 0);
    navigated = true;
  }, []);
  return (
    <>
      {above}
      <div class="page-head">
        <div class="page-title">
          <h1 ref={focused} tabIndex={-1}>
            {heading}
          </h1>
          {beside}
        </div>
        {actions}
      </div>
      {children}
    </>
  );
}
