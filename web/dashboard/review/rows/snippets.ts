import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ItemContent, ItemRow } from '../../../../src/dashboard/api/items.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { countReveal } from '../../item/reveals.ts';
import { toast } from '../../ui/toast.tsx';
import { messageOf, revealContent } from '../review-api.ts';

const MAX_CHARS = 80;

/**
 * The beginnings of texts that somebody asked for on this page of the list, by seq. Each is read and logged as a content is;
 * it does not count as viewed, because it is only a part.
 */
export function useSnippets(
  run: string,
  selected: ItemRow | undefined,
  page: number,
): ReadonlyMap<number, string> {
  const snippets = useSignal<ReadonlyMap<number, string>>(new Map());
  const controller = useRef(new AbortController());
  const asking = useRef(false);
  useEffect(() => {
    snippets.value = new Map();
    controller.current = new AbortController();
    return () => controller.current.abort();
  }, [page]);
  const toggle = async (): Promise<void> => {
    if (selected === undefined || asking.current) return;
    if (selected.restricted || selected.modality !== 'text') {
      toast('Only texts that are not restricted have a beginning to show.');
      return;
    }
    const { seq } = selected;
    const { signal } = controller.current;
    const others = new Map(snippets.value);
    if (others.delete(seq)) {
      snippets.value = others;
      return;
    }
    asking.current = true;
    try {
      const content = await revealContent(run, seq, signal);
      const text = beginningOf(content);
      if (text === null) {
        if (content.kind === 'unavailable') toast(content.message);
        return;
      }
      countReveal();
      snippets.value = new Map([...snippets.value, [seq, text]]);
    } catch (error) {
      if (!signal.aborted) toast(messageOf(error), 'block');
    } finally {
      asking.current = false;
    }
  };
  useShortcuts('Rows', [
    {
      keys: ['e'],
      does: 'Show the beginning of the text in its row, which is logged, or hide it again',
      run: () => void toggle(),
    },
  ]);
  return snippets.value;
}

/** Never half of a character. */
const beginning = (text: string): string => [...text.slice(0, 2 * MAX_CHARS)].slice(0, MAX_CHARS).join('');

/** Of a conversation, of the turn that tipped it or the first that is shown. */
function beginningOf(content: ItemContent): string | null {
  switch (content.kind) {
    case 'text':
      return beginning(content.text);
    case 'pair':
      return beginning(content.response);
    case 'conversation': {
      const { turns, tipped_at: tipped, first_turn: first } = content;
      const turn = turns[(tipped ?? first) - first] ?? turns[0];
      return turn === undefined ? null : beginning(turn.text);
    }
    case 'image':
    case 'audio':
    case 'unavailable':
      return null;
  }
}
