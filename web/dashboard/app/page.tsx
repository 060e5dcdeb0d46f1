import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { escapeText } from '../../../src/domain/text/escape-text.ts';

interface Props {
  /** Also the window title. An untrusted name is escaped. */
  readonly title: string;
  /** Replaces the title in the heading, for text that does not belong in the browser's history. */
  readonly heading?: ComponentChildren;
  /** Next to the heading: the page's subject. */
  readonly beside?: ComponentChildren;
  /** On the line of the heading: the page's actions. */
  readonly actions?: ComponentChildren;
  /** Above the heading: the page's parent. */
  readonly above?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Whether a page was shown before this one. */
let navigated = false;

/** A page with its heading. After navigation, the heading gets the focus, as after a load. */
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
