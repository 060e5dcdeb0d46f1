import { effect, signal } from '@preact/signals';
import { kept, keep } from './kept.ts';

export const THEMES = ['system', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];

/** What the user chose; kept in the browser. */
export const theme = signal<Theme>(THEMES.find((name) => name === kept('theme')) ?? 'system');

/** Gives the page the chosen theme, whenever it changes. */
export function followTheme(): void {
  effect(() => {
    keep('theme', theme.value);
    if (theme.value === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
  });
}
