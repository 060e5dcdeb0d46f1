import { signal } from '@preact/signals';

/** How somebody looks at contents in this tab. Nothing of a content is kept. */

const REVEALED = 'guardsweep.revealed';

/** Contents that were shown in this tab. */
export const revealed = signal(Number(sessionStorage.getItem(REVEALED) ?? 0) || 0);

export function countReveal(): void {
  revealed.value++;
  sessionStorage.setItem(REVEALED, String(revealed.value));
}

/** A setting of this tab. */
function setting(name: string) {
  const key = `guardsweep.${name}`;
  const value = signal(sessionStorage.getItem(key) !== null);
  const set = (on: boolean): void => {
    value.value = on;
    if (on) sessionStorage.setItem(key, 'yes');
    else sessionStorage.removeItem(key);
  };
  return { value, set };
}

/** Whether texts are shown as somebody moves through the list. Each of them is logged as well. */
export const showTexts = setting('show-texts');

/** Whether the characters of texts are replaced. */
export const maskTexts = setting('mask-texts');
