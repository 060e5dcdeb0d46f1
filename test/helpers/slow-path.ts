import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A port behind which everything takes a while longer to reach the server. */
export async function slowPathTo(port: number, delayMs: number): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => void (near.destroy(), far.destroy()));
    }
    near.on('data', (bytes) => void setTimeout(() => far.write(bytes), delayMs));
    far.on('data', (bytes) => near.write(bytes));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}
