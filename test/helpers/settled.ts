import { setTimeout } from 'node:timers/promises';

/** Waits until a condition holds that no event announces; throws after 200 s, before a test times out. */
export async function settled(condition: () => boolean | Promise<boolean>): Promise<void> {
  const endsAtMs = performance.now() + 200_000;
  while (!(await condition())) {
    if (performance.now() > endsAtMs) throw new Error('the condition never came to hold');
    await setTimeout(2);
  }
}
