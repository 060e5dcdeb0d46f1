import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { encodeBooleans, encodeFloats, encodeStrings } from '../../src/guard/tensors/raw.ts';
import { MAX_ANSWER_MS } from './answer-time.ts';
import type { UnaryAnswer, UnaryClient } from './unary-caller.ts';
import type { Damage, UnaryCall } from './unary-calls.ts';
import { verdictText } from './verdict-text.ts';

interface Body {
  readonly headers: Readonly<Record<string, string | number>>;
  readonly bytes: Buffer;
}

const JSON_LENGTH = 'inference-header-content-length';

/** A client of the inference endpoint over HTTP, with its own connection. Every second request and reply is binary. */
export class HttpUnaryClient implements UnaryClient {
  readonly refusal = '400';
  readonly #url: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #count = 0;

  /** `address` has the form `http://host:port`. */
  constructor(address: string) {
    this.#url = new URL('/v2/models/guard/infer', address);
  }

  send(call: UnaryCall, id: string): Promise<UnaryAnswer> {
    const damage = call.fault?.damage ?? null;
    const { headers, bytes } =
      this.#count++ % 2 === 0 ? jsonBody(call, id, damage) : binaryBody(call, id, damage);
    return new Promise((resolve) => {
      const failed = ({ message }: Error): void =>
        resolve(damage === 'leave' ? 'left' : { status: 'no reply', text: message });
      const options = {
        method: 'POST',
        agent: this.#agent,
        timeout: MAX_ANSWER_MS,
        headers: { ...headers, 'content-length': bytes.length },
      };
      const sent = httpRequest(this.#url, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', failed);
        response.on('end', () =>
          resolve(answerOf(response.statusCode!, response.headers, Buffer.concat(chunks))),
        );
      });
      sent.on('error', failed);
      sent.on('timeout', () => sent.destroy(new Error('no reply in time')));
      if (damage === 'leave') {
        sent.write(bytes.subarray(0, bytes.length / 2), () => sent.destroy(new Error('left')));
      } else sent.end(bytes);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function jsonBody({ inputs }: UnaryCall, id: string, damage: Damage | null): Body {
  const tensors = inputs.map(({ values, ...tensor }) => ({ ...tensor, data: values }));
  if (damage === 'truncate') tensors.push({ ...tensors.pop()!, data: [] });
  const text = JSON.stringify({ id, inputs: tensors });
  const bytes = Buffer.from(damage === 'garble' ? text.slice(0, -1) : text);
  return { headers: { 'content-type': 'application/json' }, bytes };
}

function binaryBody({ inputs }: UnaryCall, id: string, damage: Damage | null): Body {
  const raw = inputs.map(({ values }) => encodeStrings(values));
  if (damage === 'truncate') raw.push(raw.pop()!.subarray(0, -1));
  const tensors = inputs.map(({ name, datatype, shape }, index) => {
    return { name, datatype, shape, parameters: { binary_data_size: raw[index]!.length } };
  });
  const parameters = { binary_data_output: true };
  const json = Buffer.from(JSON.stringify({ id, parameters, inputs: tensors }));
  const bytes = Buffer.concat([json, ...raw]);
  const jsonLength = damage === 'garble' ? bytes.length + 1 : json.length;
  return { headers: { 'content-type': 'application/octet-stream', [JSON_LENGTH]: jsonLength }, bytes };
}

interface ReplyTensor {
  readonly name: string;
  readonly datatype: string;
  readonly parameters?: { readonly binary_data_size: number };
  readonly data?: readonly (number | boolean)[];
}

function answerOf(status: number, headers: IncomingHttpHeaders, body: Buffer): UnaryAnswer {
  const end = Number(headers[JSON_LENGTH] ?? body.length);
  try {
    const json = JSON.parse(body.subarray(0, end).toString()) as object;
    if (status !== 200) return { status: `${status}`, text: (json as { error: string }).error };
    const { id, outputs } = json as { id: string; outputs: readonly ReplyTensor[] };
    return { id, verdict: verdictText(rawOf(outputs, body.subarray(end))) };
  } catch {
    return { status: `${status}`, text: 'the reply is not readable' };
  }
}

function rawOf(outputs: readonly ReplyTensor[], binary: Buffer): Map<string, Buffer> {
  const raw = new Map<string, Buffer>();
  let at = 0;
  for (const { name, datatype, parameters, data } of outputs) {
    if (parameters !== undefined) {
      raw.set(name, binary.subarray(at, at + parameters.binary_data_size));
      at += parameters.binary_data_size;
    } else if (datatype === 'BOOL') raw.set(name, encodeBooleans(data as readonly boolean[]));
    else if (datatype === 'FP32') raw.set(name, encodeFloats(data as readonly number[]));
  }
  return raw;
}
