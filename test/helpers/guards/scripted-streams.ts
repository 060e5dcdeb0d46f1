import { createServer } from 'node:http';
import { type ServerDuplexStream, type ServiceDefinition, status } from '@grpc/grpc-js';
import { WebSocketServer } from 'ws';
import {
  decodeStreamRequest,
  encodeStreamVerdict,
} from '../../../src/guard/tensors/stream/stream-tensors.ts';
import {
  readStreamRequest,
  writeStreamError,
  writeStreamVerdict,
} from '../../../src/guard/tensors/stream/stream-json.ts';
import type { StreamRequest, StreamVerdict } from '../../../src/guard/tensors/stream/stream-messages.ts';
import { closeCodeOf, type StatusName } from '../../../src/guard/tensors/stream/stream-status.ts';
import { decodeInferRequest } from '../../../src/guard/tensors/service.ts';
import { freePort } from '../free-port.ts';

/** The server's end of one moderation stream, as a script sees it. */
export interface ScriptedStream {
  /** Received so far, the current message included. */
  readonly messages: StreamRequest[];
  /** Resolves when the client is gone, or the stream has ended. */
  readonly closed: Promise<void>;
  /** Fields left out: a clean verdict on everything received. */
  verdict(verdict?: Partial<StreamVerdict>): void;
  /** A message that is none. */
  garbage(): void;
  fail(code: StatusName, details: string): void;
  /** Ends the stream without an error. */
  end(): void;
}

/** What a server does with a message. Over a WebSocket the client sends the next one after a reply only. */
export type StreamScript = (stream: ScriptedStream, message: StreamRequest) => void;

/** Score of a text: its share of the letter z. Flagged from a half, caution from a quarter. */
export function findings(text: string): Pick<StreamVerdict, 'score' | 'flagged' | 'needsCaution'> {
  const score = [...text].filter((character) => character === 'z').length / Math.max(1, text.length);
  return { score: Math.fround(score), flagged: score >= 0.5, needsCaution: score >= 0.25 && score < 0.5 };
}

/** A verdict after every message, the final one after the last. */
export const ordinary: StreamScript = (stream, { endOfStream }) => {
  const text = stream.messages.map(({ chunk }) => chunk ?? '').join('');
  stream.verdict({ ...findings(text), isFinal: endOfStream });
  if (endOfStream) stream.end();
};

/** A clean verdict on messages but for what is given. */
export function verdictOn(
  messages: readonly StreamRequest[],
  verdict: Partial<StreamVerdict> = {},
): StreamVerdict {
  const processedUntilSeq = messages.at(-1)?.seq ?? -1;
  const clean = { score: 0, flagged: false, needsCaution: false, latencyMs: 1, isFinal: false };
  return { processedUntilSeq, ...clean, ...verdict };
}

/** Adds ModelStreamInfer, played by a script, to a gRPC service and its handlers. */
export function withStreams(
  service: ServiceDefinition,
  batched: boolean,
  script: StreamScript,
  modelVersion: () => string,
): { service: ServiceDefinition; handler: (call: ServerDuplexStream<Buffer, unknown>) => void } {
  const method = service['ModelStreamInfer']!;
  const serialize = method.responseSerialize;
  const definition = {
    ...method,
    requestDeserialize: (message: Buffer) => message,
    responseSerialize: (reply: unknown) => (Buffer.isBuffer(reply) ? reply : serialize(reply)),
  };
  return {
    service: { ...service, ModelStreamInfer: definition },
    handler: (call) => {
      const stream: ScriptedStream = {
        messages: [],
        closed: new Promise((resolve) => call.once('close', resolve).once('cancelled', resolve)),
        verdict: (verdict = {}) => {
          const tensors = encodeStreamVerdict(verdictOn(stream.messages, verdict), { batched });
          const response = { model_name: 'guard', model_version: modelVersion(), id: '', ...tensors };
          call.write({ error_message: '', infer_response: response });
        },
        garbage: () => call.write(Buffer.from('not protobuf')),
        fail: (code, details) => call.emit('error', { code: status[code], details }),
        end: () => call.end(),
      };
      call.on('data', (message: Buffer) => {
        const request = decodeStreamRequest(decodeInferRequest(message));
        stream.messages.push(request);
        script(stream, request);
      });
      call.on('error', () => {});
    },
  };
}

/** A server that serves streams over WebSockets, as a test wants. */
export interface StreamServer {
  readonly address: string;
  readonly streams: ScriptedStream[];
  /** Of each handshake. */
  readonly authorizations: (string | undefined)[];
  setStreams(script: StreamScript): void;
  /** Cuts every connection and stops listening. */
  kill(): Promise<void>;
}

interface SocketServerOptions {
  readonly script?: StreamScript;
  /** 0: a free one. */
  readonly port?: number;
  /** Answers the handshake instead, with this status line and headers. */
  readonly refuse?: string;
}

export async function startSocketServer(options: SocketServerOptions = {}): Promise<StreamServer> {
  let script = options.script ?? ordinary;
  const streams: ScriptedStream[] = [];
  const authorizations: (string | undefined)[] = [];
  const http = createServer();
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: true });
  http.on('upgrade', (request, socket, head) => {
    authorizations.push(request.headers.authorization);
    if (options.refuse !== undefined || request.url !== '/v1/moderations/response-stream') {
      socket.end(`HTTP/1.1 ${options.refuse ?? '404 Not Found'}\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    server.handleUpgrade(request, socket, head, (client) => {
      const stream: ScriptedStream = {
        messages: [],
        closed: new Promise((resolve) => client.once('close', () => resolve())),
        verdict: (verdict = {}) => client.send(writeStreamVerdict(verdictOn(stream.messages, verdict))),
        garbage: () => client.send('not JSON'),
        fail: (code, details) => {
          client.send(writeStreamError(code, details));
          client.close(closeCodeOf(code));
        },
        end: () => client.close(1000),
      };
      streams.push(stream);
      client.on('error', () => {});
      client.on('message', (data) => {
        const request = readStreamRequest((data as Buffer).toString());
        stream.messages.push(request);
        script(stream, request);
      });
    });
  });
  const port = options.port || (await freePort());
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  return {
    address: `ws://127.0.0.1:${port}`,
    streams,
    authorizations,
    setStreams: (next) => void (script = next),
    kill: async () => {
      for (const client of server.clients) client.terminate();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
