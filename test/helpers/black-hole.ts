import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/** Listens with the shortest queue, and then stops for good: it accepts nothing. */
const LISTENER = `
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

/** A port of this machine that answers no attempt to connect, as behind a firewall that drops them. */
export async function blackHole(): Promise<number> {
  const listener = spawn(process.execPath, ['-e', LISTENER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const fill: Socket[] = [];
  onTestFinished(() => {
    for (const socket of fill) socket.destroy();
    listener.kill('SIGKILL');
  });
  const [text] = (await once(listener.stdout, 'data')) as [Buffer];
  const port = Number(text.toString());
  // Until the queue of connections to accept is full.
  while (true) {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => {});
    fill.push(socket);
    let isTaken = false;
    socket.once('connect', () => (isTaken = true));
    await sleep(500);
    // A timer may be late, and come before an event that was there in time.
    await new Promise(setImmediate);
    if (!isTaken) return port;
  }
}
