import { ModerationStream, type StreamResources, type StreamSink } from './moderation-stream.ts';
import type { NotReady, StreamJudging } from './prefix-judge.ts';
import type { StreamLimits } from './stream-limits.ts';
import { UnjudgedText } from './unjudged-text.ts';

/** The moderation streams of a server, over all its transports: admits them, and ends them when the server closes. */
export class ModerationStreams {
  readonly limits: StreamLimits;
  readonly #resources: StreamResources;
  /** Open streams, each with its connection. */
  readonly #open = new Map<ModerationStream, string>();
  readonly #perConnection = new Map<string, number>();
  #verdicts = 0;
  #isClosed = false;

  constructor(judging: StreamJudging, limits: StreamLimits) {
    this.limits = limits;
    this.#resources = { judging, limits, unjudged: new UnjudgedText(limits.totalUnjudgedText) };
  }

  /** Number of open streams. */
  get open(): number {
    return this.#open.size;
  }

  /** Verdicts given since the start. */
  get verdicts(): number {
    return this.#verdicts;
  }

  /** Code units of text waiting for a verdict. */
  get unjudgedText(): number {
    return this.#resources.unjudged.held;
  }

  /**
   * Opens a stream of a connection, which is identified by its address and port. A stream that is not admitted ends
   * within this call: RESOURCE_EXHAUSTED or UNAVAILABLE.
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

  /** Ends all streams with UNAVAILABLE, including any opened later. */
  close(): void {
    this.#isClosed = true;
    this.endAll({ event: 'not available', text: CLOSING });
  }

  /** Ends all streams that are currently open. */
  endAll({ event, text }: NotReady): void {
    for (const stream of [...this.#open.keys()]) stream.end(event, text);
  }

  #admit(stream: ModerationStream, connection: string): void {
    const { limits } = this;
    const ofConnection = this.#perConnection.get(connection) ?? 0;
    const notReady = this.#notReady();
    if (notReady !== null) stream.end(notReady.event, notReady.text);
    else if (this.#open.size >= limits.streams) {
      stream.end('limit exceeded', 'this server has as many streams as it allows');
    } else if (ofConnection >= limits.streamsPerConnection) {
      stream.end('limit exceeded', 'this connection has as many streams as the server allows');
    } else {
      this.#open.set(stream, connection);
      this.#perConnection.set(connection, ofConnection + 1);
    }
  }

  #notReady(): NotReady | null {
    if (this.#isClosed) return { event: 'not available', text: CLOSING };
    return this.#resources.judging.notReady();
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
