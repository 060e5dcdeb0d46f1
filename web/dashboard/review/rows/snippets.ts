import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ItemContent, ItemRow } from '../../../../src/dashboard/api/items.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { countReveal } from '../../item/reveals.ts';
import { toast } from '../../ui/toast.tsx';
import { messageOf, revealContent } from '../review-api.ts';

const MAX_CHARS = 100;

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
  useEffect(() => {
    snippets.value = new Map();
    controller.current = new AbortController();
    return () => controller.current.abort();
  }, [page]);
  const toggle = async (): Promise<void> => {
    if (selected === undefined || selected.restricted || selected.modality !== 'text') return;
    const { seq } = selected;
    const { signal } = controller.current;
    const others = new Map(snippets.value);
    if (others.delete(seq)) {
      snippets.value = others;
      return;
    }
    try {
      const text = beginningOf(await revealContent(run, seq, signal));
      if (text === null) return;
      countReveal();
      snippets.value = new Map([...snippets.value, [seq, text]]);
    } catch (error) {
      if (!signal.aborted) toast(messageOf(error), 'block');
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

/** Of a conversation, of the turn that tipped it or the first that is shown. */
function beginningOf(content: ItemContent): string | null {
  switch (content.kind) {
    case 'text':
      return content.text.slice(0, MAX_CHARS);
    case 'pair':
      return content.response.slice(0, MAX_CHARS);
    case 'conversation': {
      const { turns, tipped_at: tipped, first_turn: first } = content;
      return (turns[(tipped ?? first) - first] ?? turns[0])?.text.slice(0, MAX_CHARS) ?? null;
    }
    case 'image':
    case 'audio':
    case 'unavailable':
      return null;
  }
}
