import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { httpsOptions, type ServerTls } from '../certificate.ts';
import { freePort } from '../free-port.ts';

/** An HTTP server of a fake guard. */
export interface FakeHttp {
  readonly port: number;
  /** `127.0.0.1:<port>`. */
  readonly host: string;
  /** Connections made so far. */
  readonly connections: () => number;
  /** Ends at once, as a killed server does: connections are cut. */
  kill(): void;
}

type Handle = (message: IncomingMessage, body: Buffer, response: ServerResponse) => Promise<void> | void;

/** Serves requests on loopback, on a port where it can be started again unless one is given. A client that goes away in the middle ends its request, not the server. */
export async function serveHttp(
  handle: Handle,
  { port, tls }: { readonly port?: number | undefined; readonly tls?: ServerTls | undefined } = {},
): Promise<FakeHttp> {
  let connections = 0;
  const answer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
    await handle(message, Buffer.concat(chunks), response);
  };
  const listener = (message: IncomingMessage, response: ServerResponse): void => {
    answer(message, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else send(response, 500, { error: `the server failed: ${String(error)}` });
    });
  };
  const server = tls ? createTlsServer(httpsOptions(tls), listener) : createServer(listener);
  server.on('connection', () => connections++);
  const bound = port || (await freePort());
  server.listen(bound, '127.0.0.1');
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
  return {
    port: bound,
    host: `127.0.0.1:${bound}`,
    connections: () => connections,
    kill: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Sends strings and bytes as they are, anything else as JSON. */
export function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(isRaw ? body : JSON.stringify(body));
}
