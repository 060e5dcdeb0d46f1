import { createInterface } from 'node:readline';

/**
 * The child's side of a `LineProcess`: answers each line on stdin with a line on stdout, in order, including the
 * processor time used so far. Runs until its input ends or its parent kills it, and then ends the process.
 */
export async function serveLines<Request>(answer: (request: Request) => Promise<object>): Promise<never> {
  // A service manager sends SIGTERM to every process of the service; the parent decides when this one ends.
  process.on('SIGTERM', () => undefined);
  // There is nothing to clean up, and a normal exit would wait for unfinished work.
  process.stdout.on('error', () => process.kill(process.pid, 'SIGKILL'));
  for await (const line of createInterface({ input: process.stdin })) {
    const result = await answer(JSON.parse(line) as Request);
    const { user, system } = process.cpuUsage();
    // Any library may have made the pipe non-blocking; only this stream waits for a busy parent.
    process.stdout.write(`${JSON.stringify({ ...result, cpuMs: (user + system) / 1000 })}\n`);
  }
  process.kill(process.pid, 'SIGKILL');
  throw new Error('the process was killed');
}
