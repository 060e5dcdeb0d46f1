import { useLayoutEffect, useRef } from 'preact/hooks';
import type { MarkedSpan } from '../../../src/dashboard/api/items.ts';
import { maskTexts } from './reveals.ts';
import { maskedText, visibleText } from './visible-text.ts';

/** A text as it is shown: what is hidden in it written out, and masked on request. */
export function shownText(text: string): string {
  return visibleText(maskTexts.value.value ? maskedText(text) : text);
}

interface TextContentProps {
  readonly label: string;
  readonly text: string;
  readonly marked: MarkedSpan | null;
}

/** A text in a box of its own, scrolled to what decided. */
export function TextContent({ label, text, marked }: TextContentProps) {
  const box = useRef<HTMLDivElement>(null);
  const mark = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (box.current === null || mark.current === null) return;
    box.current.scrollTop = mark.current.offsetTop - box.current.clientHeight / 4;
  }, [text, marked]);

  return (
    <div ref={box} class="text-box" role="region" aria-label={label} tabIndex={0} data-scrolls>
      {marked === null ? (
        shownText(text)
      ) : (
        <>
          {shownText(text.slice(0, marked.from))}
          <mark ref={mark}>{shownText(text.slice(marked.from, marked.to))}</mark>
          {shownText(text.slice(marked.to))}
        </>
      )}
    </div>
  );
}
