import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';

/** An answer in short: its status, and its code if it is an error of ours. */
export interface RawAnswer {
  readonly short: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** Sends exactly this path and these headers, which `fetch` would change. */
export async function rawRequest(
  origin: string,
  [method, path]: readonly [method: string, path: string],
  headers: Readonly<Record<string, string>>,
  body = '',
): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  const request = httpRequest({ hostname, port, path, method, headers, agent: false });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  const code = /"code":"(\w+)"/.exec(text)?.[1];
  const status = String(response.statusCode);
  return { short: code === undefined ? status : `${status} ${code}`, headers: response.headers, text };
}
