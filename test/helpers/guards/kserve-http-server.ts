import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ServerTls } from '../certificate.ts';
import {
  configTensors,
  contentsOf,
  HARMLESS,
  INPUTS,
  metadataTensors,
  type Output,
  OUTPUTS,
  rawOutputs,
  scoreOf,
  stringsOf,
  verdictOutputs,
  versionOutput,
} from './fake-contract.ts';
import { type FakeHttp, send, serveHttp } from './fake-http.ts';

/**
 * A KServe v2 server over HTTP that shares no code with the guard client or the embedded guard. As `triton` it has the
 * binary tensor data extension and a model configuration, and says with 400 that it is not ready. As `mlserver` it has
 * neither, like Seldon MLServer 1.3.5: a body that is not JSON is 422, a model that it does not know 404.
 */
interface KserveHttpServer extends FakeHttp {
  readonly address: string;
  /** Judged requests in order of arrival, without the harmless ones. */
  readonly seen: SeenInference[];
}

interface SeenInference {
  /** Contents of the rows. */
  readonly contents: readonly string[];
  readonly headers: IncomingHttpHeaders;
}

export interface KserveHttpOptions {
  readonly port?: number;
  /** Default `triton`. */
  readonly form?: 'triton' | 'mlserver';
  /** Goes before `/v2`. */
  readonly path?: string;
  readonly tls?: ServerTls;
  /** Instead of the ordinary reply of any path but that for inference: a status, and a body. */
  readonly get?: (path: string) => void | { readonly status: number; readonly body?: string };
  /** A reply's id instead of that of the request. */
  readonly script?: (contents: readonly string[]) => { readonly id: string } | undefined;
}

interface Body {
  readonly id?: string;
  readonly parameters?: { readonly binary_data_output?: boolean };
  readonly inputs: readonly {
    readonly name: string;
    readonly datatype: string;
    readonly parameters?: { readonly binary_data_size: number };
    readonly data?: readonly string[];
  }[];
}

export async function startKserveHttpServer(options: KserveHttpOptions = {}): Promise<KserveHttpServer> {
  const { form = 'triton', path: base = '', tls, script } = options;
  const isTriton = form === 'triton';
  const seen: SeenInference[] = [];

  const documents: Record<string, unknown> = {
    '/v2/health/ready': '',
    '/v2/models/guard/ready': '',
    '/v2': { name: form, extensions: isTriton ? ['classification', 'binary_tensor_data'] : [] },
    '/v2/models/guard': { name: 'guard', inputs: metadataTensors(INPUTS), outputs: metadataTensors(OUTPUTS) },
    ...(isTriton && {
      '/v2/models/guard/config': {
        name: 'guard',
        max_batch_size: 64,
        input: withStringDims(INPUTS),
        output: withStringDims(OUTPUTS),
        instance_group: [{ count: 2 }],
      },
    }),
  };

  const infer = (message: IncomingMessage, body: Buffer, response: ServerResponse): void => {
    const jsonLength = message.headers['inference-header-content-length'];
    if (!isTriton && (jsonLength !== undefined || message.headers['content-type'] !== 'application/json')) {
      return send(response, 422, { detail: [{ type: 'json_invalid' }] });
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
      return reply(response, id, [versionOutput('model')], binary);
    }
    const contents = contentsOf(strings);
    if (contents[0] !== HARMLESS) seen.push({ contents, headers: message.headers });
    reply(response, script?.(contents)?.id ?? id, verdictOutputs(contents.map(scoreOf), true), binary);
  };

  const server = await serveHttp(
    (message, body, response) => {
      const path = message.url!.startsWith(`${base}/`) ? message.url!.slice(base.length) : '';
      if (message.method === 'POST' && path === '/v2/models/guard/infer') {
        return infer(message, body, response);
      }
      const other = options.get?.(path);
      if (other) send(response, other.status, other.body ?? '');
      else if (documents[path] === undefined) send(response, 404, { detail: 'Not Found' });
      else send(response, 200, documents[path]);
    },
    { port: options.port, tls },
  );
  return { ...server, address: `kserve+${tls ? 'https' : 'http'}://${server.host}${base}`, seen };
}

/** JSON of protobuf messages writes an int64 as a string. */
function withStringDims(list: typeof INPUTS) {
  return configTensors(list).map((tensor) => ({ ...tensor, dims: tensor.dims.map(String) }));
}

function reply(response: ServerResponse, id: string, outputs: readonly Output[], binary: boolean): void {
  const head = { id, model_name: 'guard', model_version: '1' };
  if (!binary) return send(response, 200, { ...head, outputs });
  const { outputs: plain, raw_output_contents: raw } = rawOutputs(outputs);
  const described = plain.map((output, index) => {
    return { ...output, parameters: { binary_data_size: raw[index]!.length } };
  });
  const json = Buffer.from(JSON.stringify({ ...head, outputs: described }));
  const headers = { 'inference-header-content-length': String(json.length) };
  send(response, 200, Buffer.concat([json, ...raw]), headers);
}
