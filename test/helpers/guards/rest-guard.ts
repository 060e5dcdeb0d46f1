import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerTls } from '../certificate.ts';
import { type CanaryAnswers, canaryScore } from './canary-answers.ts';
import { HARMLESS, scoreOf } from './fake-contract.ts';
import { type FakeHttp, send, serveHttp } from './fake-http.ts';

/** One request to judge as the guard over REST sees it. */
export interface SeenModeration {
  readonly modality: string;
  /** The text, or the file's bytes in base64. */
  readonly content: string;
  /** Null for a text. */
  readonly file: { readonly name: string; readonly type: string; readonly bytes: Buffer } | null;
  readonly headers: IncomingMessage['headers'];
  /** Counted from 0 over all judged requests. */
  readonly number: number;
  /** Whether it is the text or the picture with which a client finds out whether a guard judges. */
  readonly harmless: boolean;
}

/**
 * What a script says of a request: nothing (an ordinary verdict), a reply of its own (the ordinary one where it leaves
 * something out; a body that is not a string is sent as JSON), a body cut off in the middle, a body that comes drop by drop
 * without end, or a lost connection.
 */
export type RestScripted =
  | void
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    }
  | 'cut off'
  | 'drip'
  | 'drop';

interface RestGuardOptions {
  /** 0 for a free port. */
  readonly port?: number;
  readonly script?: (request: SeenModeration) => RestScripted | Promise<RestScripted>;
  readonly tls?: ServerTls;
  /** Default: right. */
  readonly canaries?: () => CanaryAnswers;
  /** Goes before `/v1/…`. */
  readonly path?: string;
}

interface RestGuard extends FakeHttp {
  readonly address: string;
  /** Judged requests in order of arrival, without the harmless ones. */
  readonly seen: SeenModeration[];
  /** Harmless ones that arrived. */
  readonly harmless: () => number;
}

/** A real HTTP server with the REST endpoints of the guard's contract, whose answers a test decides. */
export async function startRestGuard(options: RestGuardOptions = {}): Promise<RestGuard> {
  const { path = '', script = () => {}, tls } = options;
  const seen: SeenModeration[] = [];
  let harmless = 0;

  const moderate = async (message: IncomingMessage, body: Buffer, response: ServerResponse) => {
    const modality = message.url!.slice(`${path}/v1/moderations/`.length);
    const known = ['text', 'image', 'audio'].includes(modality);
    if (message.method !== 'POST' || !known || !message.url!.startsWith(`${path}/v1/moderations/`))
      return send(response, 404, { error: { code: 'NOT_FOUND', message: 'no such path' } });
    const file = modality === 'text' ? null : fileOf(body, message.headers['content-type'] ?? '');
    const content = file?.bytes.toString('base64') ?? (JSON.parse(body.toString()) as { text: string }).text;
    const asCanary = file === null ? { text: content } : { image: content };
    const asked = canaryScore(asCanary, options.canaries?.() ?? 'right');
    if (asked !== null && file === null) return answer(response, undefined, asked);
    const request: SeenModeration = {
      modality,
      content,
      file,
      headers: message.headers,
      number: seen.length,
      harmless: content === HARMLESS || asked !== null,
    };
    if (content === HARMLESS) harmless++;
    if (!request.harmless) seen.push(request);
    answer(response, await script(request), asked ?? scoreOf(content));
  };

  const server = await serveHttp(moderate, { port: options.port, tls });
  return {
    ...server,
    address: `${tls ? 'https' : 'http'}://${server.host}${path}`,
    seen,
    harmless: () => harmless,
  };
}

/** The one file of a multipart form; throws when the form is not exactly that. */
function fileOf(body: Buffer, contentType: string): SeenModeration['file'] {
  const boundary = /^multipart\/form-data; boundary=([\w-]{1,70})$/.exec(contentType)![1]!;
  const headEnd = body.indexOf('\r\n\r\n');
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const [, name, type] =
    /^--([\w-]+)\r\nContent-Disposition: form-data; name="file"; filename="([^"]+)"\r\nContent-Type: (\S+)$/
      .exec(body.toString('latin1', 0, headEnd))!
      .slice(1);
  if (!body.subarray(-tail.length).equals(tail)) throw new Error('the form does not end');
  return { name: name!, type: type!, bytes: body.subarray(headEnd + 4, -tail.length) };
}

function answer(response: ServerResponse, scripted: RestScripted, score: number): void {
  const flagged = score >= 0.5;
  const ordinary = { flagged, score, subcategory_flags: flagged ? { hate: true } : {}, latency_ms: 1.5 };
  if (scripted === 'drop') {
    response.destroy();
  } else if (scripted === 'drip') {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 10);
    response.once('close', () => clearInterval(timer));
  } else if (scripted === 'cut off') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
    response.write('{"flagged":', () => response.destroy());
  } else {
    const { status = 200, headers, body = ordinary } = scripted ?? {};
    send(response, status, body, { 'content-type': 'application/json; charset=utf-8', ...headers });
  }
}
