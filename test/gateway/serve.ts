import { onTestFinished } from 'vitest';
import { type Gateway, type GatewayOptions, startGateway } from '../../src/gateway/gateway.ts';
import type { GuardPool } from '../../src/guard/pool/pool.ts';
import { connect, guard } from '../helpers/guards/guard-pool.ts';
import { DEFAULT_JUDGING } from '../helpers/run-config.ts';

/** A gateway on a free port in front of a pool, closed when the test is over. What a test does not say is ordinary. */
export async function serve(pool: GuardPool, options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const gateway = await startGateway({
    pool,
    host: '127.0.0.1',
    port: 0,
    token: null,
    judging: DEFAULT_JUDGING,
    maxConcurrency: 256,
    timeoutMs: 120_000,
    // A busy machine may hold a guard up for longer than a client is made to wait.
    guardGraceMs: 120_000,
    onFailure: (failure) => {
      throw failure;
    },
    ...options,
  });
  onTestFinished(() => gateway.close(AbortSignal.abort()));
  return gateway;
}

/** The origin of a gateway in front of one guard, an ordinary one unless given. */
export async function gatewayTo(
  server?: { readonly address: string },
  options: Partial<GatewayOptions> = {},
): Promise<string> {
  return (await serve(await connect([server ?? (await guard())]), options)).origin;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Sends a request and reads its JSON reply. */
export async function send(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

/** Asks for the verdict on a text. */
export function sendText(origin: string, text: string, headers: Record<string, string> = {}): Promise<Reply> {
  const asJson = { 'content-type': 'application/json', ...headers };
  const body = JSON.stringify({ text });
  return send(`${origin}/v1/moderations/text`, { method: 'POST', headers: asJson, body });
}

/** Asks for the verdict on a file. */
export function sendFile(
  origin: string,
  modality: 'image' | 'audio',
  bytes: Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = {},
): Promise<Reply> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([bytes]), 'photo.jpg');
  return send(`${origin}/v1/moderations/${modality}`, { method: 'POST', body: form });
}

/** What an error reply is in short: its status and code. */
export function codeOf({ status, body }: Reply): string {
  return `${status} ${(body as { error: { code: string } }).error.code}`;
}
