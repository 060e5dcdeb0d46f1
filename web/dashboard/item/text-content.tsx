import { useLayoutEffect, useRef } from 'preact/hooks';
import type { MarkedSpan } from '../../../src/dashboard/api/items.ts';
import { maskTexts } from './reveals.ts';
import { maskText, visibleText } from './visible-text.ts';

/** Display form of a text: hidden characters are written out, and letters masked on request. */
export function displayText(text: string): string {
  return visibleText(maskTexts.value.value ? maskText(text) : text);
}

interface TextContentProps {
  readonly label: string;
  readonly text: string;
  readonly marked: MarkedSpan | null;
}

/** A text in its own box, scrolled to the decisive passage. */
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
        displayText(text)
      ) : (
        <>
          {displayText(text.slice(0, marked.from))}
          <mark ref={mark}>{displayText(text.slice(marked.from, marked.to))}</mark>
          {displayText(text.slice(marked.to))}
        </>
      )}
    </div>
  );
}
