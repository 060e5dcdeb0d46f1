import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ItemContent } from '../../../src/dashboard/api/items.ts';
import { UntrustedText } from '../ui/untrusted-text.tsx';
import { displayText } from './text-content.tsx';

type ConversationContent = Extract<ItemContent, { kind: 'conversation' }>;

const SIDES: Readonly<Record<string, string>> = { user: 'user', assistant: 'assistant' };

/** The turns of a conversation as bubbles, scrolled to the decisive one. */
export function Conversation({
  content,
  tipped,
}: {
  readonly content: ConversationContent;
  /** Whether that turn is the first flagged one, rather than the one that the verdict is about. */
  readonly tipped: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const counting = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => {
    if (box.current === null || counting.current === null) return;
    box.current.scrollTop = counting.current.offsetTop - box.current.clientHeight / 4;
  }, [content]);

  return (
    <div ref={box} class="turns-box" role="region" aria-label="Conversation" tabIndex={0} data-scrolls>
      {content.first_turn > 1 && <p class="hint">The turns before turn {content.first_turn} are left out.</p>}
      <ol class="turns">
        {content.turns.map(({ role, text }, index) => {
          const turn = content.first_turn + index;
          const counts = turn === content.tipped_at;
          return (
            <li
              key={turn}
              ref={counts ? counting : null}
              class={`turn ${Object.hasOwn(SIDES, role) ? SIDES[role] : 'other'} ${counts ? 'counts' : ''}`}
            >
              <p class="role">
                {turn}. <UntrustedText text={role} max={40} />
                {counts && (
                  <strong> · {tipped ? 'this turn tipped it' : 'the verdict is about this turn'}</strong>
                )}
              </p>
              <div class="bubble">{displayText(text)}</div>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
