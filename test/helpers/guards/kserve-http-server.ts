import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { httpsOptions, type ServerTls } from '../certificate.ts';
import { contentsOf, INPUTS, OUTPUTS, rawOf, stringsOf, valuesOf, VERSION } from './kserve-server.ts';

/**
 * A KServe v2 server over HTTP that shares no code with the guard client or the embedded guard. As `triton` it has the
 * binary tensor data extension and a model configuration, and says with 400 that it is not ready. As `mlserver` it has
 * neither, like Seldon MLServer 1.3.5: a body that is not JSON is 422, a model that it does not know 404.
 */
export interface KserveHttpServer {
  readonly address: string;
  readonly port: number;
  /** Judged requests in order of arrival, without the harmless ones. */
  readonly seen: SeenInference[];
  /** Method and path of every request. */
  readonly paths: string[];
  readonly connections: () => number;
  /** Ends at once: connections are cut. */
  kill(): void;
}

export interface SeenInference {
  /** Contents of the rows. */
  readonly contents: readonly string[];
  readonly headers: IncomingHttpHeaders;
  readonly shapes: Readonly<Record<string, readonly number[]>>;
}

interface Output {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly data: readonly (number | boolean | string | null)[];
}

/** What a script says of a request: nothing (an ordinary verdict), another reply, other outputs, or a lost connection. */
export type HttpScripted =
  | void
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: string | Buffer;
    }
  | { readonly outputs: (ordinary: readonly Output[]) => readonly unknown[] }
  /** The id of another request. */
  | { readonly id: string }
  | 'drop';

export interface KserveHttpOptions {
  readonly port?: number;
  /** Default `triton`. */
  readonly form?: 'triton' | 'mlserver';
  /** Goes before `/v2`. */
  readonly path?: string;
  readonly tls?: ServerTls;
  /** Instead of the ordinary reply of any path but that for inference: a status, and a body. */
  readonly get?: (path: string) => void | { readonly status: number; readonly body?: string };
  readonly script?: (contents: readonly string[]) => HttpScripted | Promise<HttpScripted>;
  readonly maxBatchSize?: number;
}

const HARMLESS = 'The library opens at nine on weekdays.';

const CONFIG_TYPES: Readonly<Record<string, string>> = {
  BYTES: 'TYPE_STRING',
  BOOL: 'TYPE_BOOL',
  FP32: 'TYPE_FP32',
  INT32: 'TYPE_INT32',
};

interface Body {
  readonly id?: string;
  readonly parameters?: { readonly binary_data_output?: boolean };
  readonly inputs: readonly {
    readonly name: string;
    readonly datatype: string;
    readonly shape: readonly number[];
    readonly parameters?: { readonly binary_data_size: number };
    readonly data?: readonly string[];
  }[];
}

export async function startKserveHttpServer(options: KserveHttpOptions = {}): Promise<KserveHttpServer> {
  const { form = 'triton', path: base = '', tls, script = () => {}, maxBatchSize = 64 } = options;
  const isTriton = form === 'triton';
  const seen: SeenInference[] = [];
  const paths: string[] = [];
  let connections = 0;

  const tensors = (list: typeof INPUTS) =>
    list.map(([name, datatype, dims]) => ({ name, datatype, shape: [-1, ...dims] }));
  const configTensors = (list: typeof INPUTS) =>
    list.map(([name, datatype, dims]) => ({
      name,
      data_type: CONFIG_TYPES[datatype],
      dims: dims.map(String),
      optional: true,
    }));

  const documents: Record<string, unknown> = {
    '/v2/health/ready': '',
    '/v2/models/guard/ready': '',
    '/v2': { name: form, extensions: isTriton ? ['classification', 'binary_tensor_data'] : [] },
    '/v2/models/guard': { name: 'guard', inputs: tensors(INPUTS), outputs: tensors(OUTPUTS) },
    ...(isTriton && {
      '/v2/models/guard/config': {
        name: 'guard',
        max_batch_size: maxBatchSize,
        input: configTensors(INPUTS),
        output: configTensors(OUTPUTS),
        instance_group: [{ count: 2 }],
      },
    }),
  };

  const infer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bytesOf(message);
    const jsonLength = message.headers['inference-header-content-length'];
    if (!isTriton && (jsonLength !== undefined || message.headers['content-type'] !== 'application/json')) {
      send(response, 422, { detail: [{ type: 'json_invalid' }] });
      return;
    }
    const end = jsonLength === undefined ? body.length : Number(jsonLength);
    const { id = '', inputs, parameters } = JSON.parse(body.toString('utf8', 0, end)) as Body;
    const strings: Record<string, readonly string[]> = {};
    let at = end;
    for (const { name, datatype, parameters: own, data } of inputs) {
      const size = own?.binary_data_size ?? 0;
      const raw = body.subarray(at, at + size);
      at += size;
      if (datatype === 'BYTES') strings[name] = data ?? stringsOf(raw);
    }
    if (at !== body.length) throw new Error('sizes of binary data');
    const binary = parameters?.binary_data_output === true;
    if (strings['REQUEST_TYPE']![0] === 'version') {
      reply(response, id, [{ name: 'VERSION', datatype: 'BYTES', shape: [1, 1], data: [VERSION] }], binary);
      return;
    }
    const contents = contentsOf(strings);
    const shapes = Object.fromEntries(inputs.map(({ name, shape }) => [name, shape]));
    if (contents[0] !== HARMLESS) seen.push({ contents, headers: message.headers, shapes });
    const scripted = await script(contents);
    if (scripted === 'drop') response.destroy();
    else if (scripted && 'body' in scripted) {
      send(response, scripted.status ?? 200, scripted.body, scripted.headers);
    } else {
      const ordinary = verdicts(contents);
      const outputs = scripted && 'outputs' in scripted ? (scripted.outputs(ordinary) as Output[]) : ordinary;
      reply(response, scripted && 'id' in scripted ? scripted.id : id, outputs, binary);
    }
  };

  const answer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    paths.push(`${message.method} ${message.url}`);
    const path = message.url!.startsWith(`${base}/`) ? message.url!.slice(base.length) : '';
    if (message.method === 'POST' && path === '/v2/models/guard/infer') {
      await infer(message, response);
      return;
    }
    const other = options.get?.(path);
    if (other) send(response, other.status, other.body ?? '');
    else if (documents[path] === undefined) send(response, 404, { detail: 'Not Found' });
    else send(response, 200, documents[path]);
  };

  const handle = (message: IncomingMessage, response: ServerResponse): void => {
    answer(message, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else send(response, 500, { error: `the server failed: ${String(error)}` });
    });
  };
  const server = tls ? createTlsServer(httpsOptions(tls), handle) : createServer(handle);
  server.on('connection', () => connections++);
  server.listen(options.port ?? 0, '127.0.0.1');
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
  const { port } = server.address() as AddressInfo;
  return {
    address: `kserve+${tls ? 'https' : 'http'}://127.0.0.1:${port}${base}`,
    port,
    seen,
    paths,
    connections: () => connections,
    kill: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function verdicts(contents: readonly string[]): Output[] {
  const values = valuesOf(contents);
  return OUTPUTS.map(([name, datatype, dims]) => ({
    name,
    datatype,
    shape: [contents.length, ...dims],
    data: values[name]!,
  }));
}

function reply(response: ServerResponse, id: string, outputs: readonly Output[], binary: boolean): void {
  if (!binary) {
    send(response, 200, { id, model_name: 'guard', model_version: '1', outputs });
    return;
  }
  const raw = outputs.map(({ datatype, data }) => rawOf(datatype, data));
  const described = outputs.map(({ data: _, ...output }, index) => ({
    ...output,
    parameters: { binary_data_size: raw[index]!.length },
  }));
  const json = Buffer.from(
    JSON.stringify({ id, model_name: 'guard', model_version: '1', outputs: described }),
  );
  const headers = { 'inference-header-content-length': String(json.length) };
  send(response, 200, Buffer.concat([json, ...raw]), headers);
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const isText = typeof body === 'string' || Buffer.isBuffer(body);
  response.writeHead(status, headers).end(isText ? body : JSON.stringify(body));
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
