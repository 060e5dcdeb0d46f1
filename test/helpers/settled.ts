import { setTimeout } from 'node:timers/promises';

/** Waits until a condition holds that no event announces; throws after 50 s, just before a test times out. */
export async function settled(condition: () => boolean | Promise<boolean>, withinMs = 50_000): Promise<void> {
  const endsAtMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > endsAtMs) throw new Error('the condition never came to hold');
    await setTimeout(2);
  }
}
