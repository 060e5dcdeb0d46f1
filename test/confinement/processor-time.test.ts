import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { processorTime, timeByPs } from '../../src/confinement/processor-time.ts';
import { settled } from '../helpers/settled.ts';

it.each([
  ['the system', processorTime],
  ['ps', timeByPs],
])('is what a process works, as %s has it, and nothing while it sleeps', async (_, ask) => {
  const busy = spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' });
  const asleep = spawn('sleep', ['1000'], { stdio: 'ignore' });
  onTestFinished(() => void [busy, asleep].map((process) => process.kill('SIGKILL')));
  let worked: number | null = 0;
  const looking = (async () => {
    while ((worked ?? 0) < 1000) worked = await ask(busy.pid!);
  })();
  await settled(() => (worked ?? 0) >= 1000);
  await looking;
  expect(await ask(asleep.pid!)).toBeLessThan(1000);
  asleep.kill('SIGKILL');
  await once(asleep, 'exit');
  expect(await ask(asleep.pid!)).toBeNull();
});
