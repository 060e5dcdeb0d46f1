import { effect, signal, type ReadonlySignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { loadPreference, savePreference } from './preferences.ts';

/** An action of the page for a key. Keys as in `KeyboardEvent.key`. */
export interface Shortcut {
  readonly keys: readonly string[];
  /** Description for the help. */
  readonly does: string;
  readonly run: () => void;
  /** Whether it repeats while the key is held. Only for actions that change nothing. */
  readonly repeats?: true;
}

interface Group {
  readonly title: string;
  readonly shortcuts: readonly Shortcut[];
}

const registered = signal<readonly Group[]>([]);

/** Shortcuts of the visible pages, for the help. */
export const shortcutGroups: ReadonlySignal<readonly Group[]> = registered;

/** Whether single-key shortcuts are enabled: they interfere with speech input. */
export const shortcutsOn = signal(loadPreference('shortcuts') !== 'off');

/** Registers shortcuts while the component exists. `title` is their heading in the help. */
export function useShortcuts(title: string, shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  const words = shortcuts.map(({ keys, does }) => `${keys.join()} ${does}`).join('\n');
  // Before the page is painted, so its keys work as soon as it is visible.
  useLayoutEffect(() => {
    const group: Group = {
      title,
      shortcuts: latest.current.map((shortcut, index) => ({
        ...shortcut,
        run: () => latest.current[index]?.run(),
      })),
    };
    registered.value = [...registered.peek(), group];
    return () => {
      registered.value = registered.peek().filter((other) => other !== group);
    };
  }, [title, words]);
}

const TYPED_INTO =
  'input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]';

/** Handles the keys of the current page. */
export function followKeys(): void {
  effect(() => savePreference('shortcuts', shortcutsOn.value ? 'on' : 'off'));
  addEventListener('keydown', onKeyDown);
}

function onKeyDown(event: KeyboardEvent): void {
  // Browsers press a button repeatedly while Enter is held on it.
  if (event.repeat && event.key === 'Enter' && event.target instanceof HTMLButtonElement)
    event.preventDefault();
  if (!shortcutsOn.value || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && event.target.closest(TYPED_INTO) !== null) return;
  if (document.querySelector('dialog[open]') !== null) return;
  const shortcuts = registered.value.toReversed().flatMap((group) => group.shortcuts);
  const found = shortcuts.find(({ keys }) => keys.includes(event.key));
  if (found === undefined) return;
  event.preventDefault();
  if (!event.repeat || found.repeats) found.run();
}
