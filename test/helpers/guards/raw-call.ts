import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type Settings,
} from 'node:http2';

/** A gRPC call made of bytes, for what no library would send. */
export interface RawCall {
  readonly stream: ClientHttp2Stream;
  /** The gRPC status that the server ended the call with; null when it ended without one. */
  readonly status: Promise<number | null>;
}

/** A connection to a server at `grpc://host:port`. Calls on it may be anything. */
export class RawConnection {
  readonly session: ClientHttp2Session;
  readonly closed: Promise<void>;
  readonly #streams: ClientHttp2Stream[] = [];

  constructor(address: string, settings: Settings = {}) {
    this.session = connect(address.replace(/^grpc:/, 'http:'), { settings });
    this.session.on('error', () => {});
    this.closed = new Promise((resolve) => this.session.once('close', resolve));
  }

  /** Begins a call whose body the caller writes to the stream. */
  call(rpc = 'ModelInfer', headers: Readonly<Record<string, string>> = {}): RawCall {
    const stream = this.session.request(
      {
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: `/inference.GRPCInferenceService/${rpc}`,
        [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
        [constants.HTTP2_HEADER_TE]: 'trailers',
        ...headers,
      },
      { endStream: false },
    );
    this.#streams.push(stream);
    stream.on('error', () => {});
    stream.resume();
    const status = new Promise<number | null>((resolve) => {
      const look = (given: Readonly<Record<string, unknown>>): void => {
        if (given['grpc-status'] !== undefined) resolve(Number(given['grpc-status']));
      };
      stream.on('response', look);
      stream.on('trailers', look);
      stream.on('close', () => resolve(null));
    });
    return { stream, status };
  }

  /** Ends the calls first: Node 20 corrupts its heap when a session is destroyed under a hundred refused calls. */
  async close(): Promise<void> {
    for (const stream of this.#streams) stream.close(constants.NGHTTP2_CANCEL);
    this.session.close();
    await this.closed;
  }
}

/** The prefix of a message of so many bytes. */
export function prefix(bytes: number, compressed = false): Buffer {
  const head = Buffer.alloc(5);
  head[0] = compressed ? 1 : 0;
  head.writeUInt32BE(bytes, 1);
  return head;
}

/** A message with its prefix. */
export function framed(message: Buffer, compressed = false): Buffer {
  return Buffer.concat([prefix(message.length, compressed), message]);
}

/** A length-delimited field of protobuf. */
export function delimited(number: number, content: Buffer): Buffer {
  const head = [number * 8 + 2];
  let left = content.length;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) head.push((left % 0x80) | 0x80);
  return Buffer.concat([Buffer.from([...head, left]), content]);
}
