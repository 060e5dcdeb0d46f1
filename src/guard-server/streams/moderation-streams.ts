import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import type { TensorLayout } from '../../guard/tensors/encode-request.ts';
import { RequestError } from '../contract/request-error.ts';
import type { GuardService } from '../service/guard-service.ts';
import { ModerationStream, type StreamResources, type StreamSink } from './moderation-stream.ts';
import { MAX_WINDOWS } from './prefix-judge.ts';
import type { StreamLimits } from './stream-limits.ts';
import { Turns } from './turns.ts';
import { UnjudgedText } from './unjudged-text.ts';

interface ModerationStreamsOptions {
  readonly service: GuardService;
  readonly layout: TensorLayout;
  /** Of the model's context window. */
  readonly contextTokens: number;
  /** Max requests in the queue of the model: streams use up to half of it. */
  readonly maxQueueSize: number;
  readonly limits: StreamLimits;
}

/** The moderation streams of a server, over all its transports: admits them, and ends them when the server closes. */
export class ModerationStreams {
  readonly layout: TensorLayout;
  readonly limits: StreamLimits;
  readonly #resources: StreamResources;
  /** Open streams, with the connection of each. */
  readonly #open = new Map<ModerationStream, string>();
  readonly #perConnection = new Map<string, number>();
  #verdicts = 0;
  #isClosed = false;

  constructor({ service, layout, contextTokens, maxQueueSize, limits }: ModerationStreamsOptions) {
    const turns = new Turns(Math.max(1, Math.floor(maxQueueSize / 2 / MAX_WINDOWS)));
    const unjudged = new UnjudgedText(limits.totalUnjudgedText);
    this.layout = layout;
    this.limits = limits;
    this.#resources = { service, layout, turns, limits, contextTokens, unjudged };
  }

  /** Number of open streams. */
  get open(): number {
    return this.#open.size;
  }

  /** Verdicts given since the start. */
  get verdicts(): number {
    return this.#verdicts;
  }

  /** Code units of text that wait for a verdict. */
  get unjudgedText(): number {
    return this.#resources.unjudged.held;
  }

  /**
   * Opens a stream of a connection, which is named by its address and port. A stream that is not admitted ends within
   * this call: RESOURCE_EXHAUSTED or UNAVAILABLE.
   */
  start(connection: string, sink: StreamSink): ModerationStream {
    const stream = new ModerationStream(
      {
        verdict: (report) => {
          this.#verdicts++;
          return sink.verdict(report);
        },
        ended: (error) => {
          this.#forget(stream);
          sink.ended(error);
        },
      },
      this.#resources,
    );
    this.#admit(stream, connection);
    return stream;
  }

  /** Ends all streams with UNAVAILABLE, and every stream that is opened later. */
  close(): void {
    this.#isClosed = true;
    for (const stream of [...this.#open.keys()]) stream.end('not available', CLOSING);
  }

  #admit(stream: ModerationStream, connection: string): void {
    const { limits } = this;
    const ofConnection = this.#perConnection.get(connection) ?? 0;
    const why = this.#whyNotReady();
    if (why !== null) stream.end('not available', why);
    else if (this.#open.size >= limits.streams) {
      stream.end('limit exceeded', 'this server has as many streams as it allows');
    } else if (ofConnection >= limits.streamsPerConnection) {
      stream.end('limit exceeded', 'this connection has as many streams as the server allows');
    } else {
      this.#open.set(stream, connection);
      this.#perConnection.set(connection, ofConnection + 1);
    }
  }

  #whyNotReady(): string | null {
    if (this.#isClosed) return CLOSING;
    try {
      this.#resources.service.requireModel(MODEL_NAME, '');
      return null;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return error.message;
    }
  }

  #forget(stream: ModerationStream): void {
    const connection = this.#open.get(stream);
    if (connection === undefined) return;
    this.#open.delete(stream);
    const left = this.#perConnection.get(connection)! - 1;
    if (left === 0) this.#perConnection.delete(connection);
    else this.#perConnection.set(connection, left);
  }
}

const CLOSING = 'the server is shutting down';
