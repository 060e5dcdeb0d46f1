import { signal } from '@preact/signals';
import type { ItemContent } from '../../../src/dashboard/api/items.ts';
import { revealContent } from '../review/review-api.ts';

/** State of viewing content in this tab. Content itself is not stored. */

const REVEALED = 'guardsweep.revealed';

/** Maximum items known to be viewed or not; the oldest is dropped. */
const MAX_LOOKS = 10_000;

const looks = new Map<string, boolean>();

/** Records a request for content: `shown` tells whether it was shown, rather than unavailable. */
export function noteLook(run: string, seq: number, shown: boolean): void {
  const key = `${run} ${seq}`;
  looks.set(key, shown || looks.get(key) === true);
  const [oldest] = looks.keys();
  if (looks.size > MAX_LOOKS) looks.delete(oldest!);
}

/** Whether content was shown on this page; null if it was not requested. */
export const lookAt = (run: string, seq: number): boolean | null => looks.get(`${run} ${seq}`) ?? null;

/** Number of contents shown in this tab. */
export const revealed = signal(Number(sessionStorage.getItem(REVEALED) ?? 0) || 0);

export function countReveal(): void {
  revealed.value++;
  sessionStorage.setItem(REVEALED, String(revealed.value));
}

/** Reads the content of an item, which the server logs, and counts it as a look. */
export async function lookAtContent(run: string, seq: number, signal: AbortSignal): Promise<ItemContent> {
  const content = await revealContent(run, seq, signal);
  const isShown = content.kind !== 'unavailable';
  if (isShown) countReveal();
  noteLook(run, seq, isShown);
  return content;
}

/** A setting stored for this tab. */
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

/** Whether texts are shown while moving through the list. Each one is logged too. */
export const showTexts = setting('show-texts');

/** Whether items can be decided without viewing them. */
export const decideUnseen = setting('decide-unseen');

/** Playback speeds for audio clips; 1 is the recorded speed. */
export const SPEEDS: readonly number[] = [0.75, 1, 1.25, 1.5, 2];

const SPEED = 'guardsweep.speed';

/** Playback speed of audio clips in this tab. */
export const speed = signal(SPEEDS.find((one) => String(one) === sessionStorage.getItem(SPEED)) ?? 1);

export function setSpeed(next: number): void {
  speed.value = next;
  sessionStorage.setItem(SPEED, String(next));
}

/** Whether the characters of texts are masked. */
export const maskTexts = setting('mask-texts');
