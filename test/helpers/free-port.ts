import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems hand out by themselves: no other test gets one of these by asking for any port. So are
 * those 10,000 above, where a Redis in cluster mode listens too.
 */
const PORTS = [20_000, 22_700] as const;

/** A port of 127.0.0.1 without a listener, for a server that starts later. */
export async function freePort(): Promise<number> {
  const port = randomInt(...PORTS);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  });
  if (!isFree) return freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
