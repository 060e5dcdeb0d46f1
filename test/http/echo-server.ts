import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { type HttpLimits, type HttpServerOptions, startHttpServer } from '../../src/http/http-server.ts';

const LIMITS: HttpLimits = {
  maxConnections: 8,
  maxBodyBytes: 10,
  headersTimeoutMs: 60_000,
  requestTimeoutMs: 60_000,
  closeGraceMs: 60_000,
};

type Given = Partial<Omit<HttpServerOptions, 'limits'>> & { readonly limits?: Partial<HttpLimits> };

/** A server that echoes bodies, for one test. */
export async function started({ limits, ...given }: Given = {}) {
  const server = await startHttpServer({
    what: 'echoes',
    port: 0,
    token: null,
    handle: async (incoming, response) => {
      response.end(`got ${await text(incoming)}`);
    },
    ...given,
    limits: { ...LIMITS, ...limits },
  });
  onTestFinished(() => server.close());
  return { ...server, port: Number(new URL(server.origin).port) };
}
