import { CallError } from '../protocol/call-error.ts';
import type { StreamStart } from '../streams/generation-stream.ts';
import type { GuardStreams } from '../streams/guard-streams.ts';
import type { InteractiveStream } from '../streams/interactive-stream.ts';
import { StreamError } from '../streams/stream-error.ts';
import type { StreamSlots } from '../streams/stream-slots.ts';
import type { EndpointEvents } from './events.ts';
import type { GuardHealth } from './guard-health.ts';

interface InteractiveStreamsOptions {
  /** Null for a guard without streams. */
  readonly streams: GuardStreams | null;
  readonly slots: StreamSlots;
  readonly requestTimeoutMs: number;
  readonly health: Pick<GuardHealth, 'judged'>;
  readonly events: Pick<EndpointEvents, 'down'>;
  /** A slot became free. */
  readonly released: () => void;
}

/** The interactive streams of one endpoint, while it is in use. */
export class InteractiveStreams {
  readonly #options: InteractiveStreamsOptions;
  readonly #open = new Set<InteractiveStream>();
  #stopped = false;

  constructor(options: InteractiveStreamsOptions) {
    this.#options = options;
  }

  /** Needs a free slot. Throws the signal's reason when it is aborted. */
  open(start: StreamStart, signal: AbortSignal): InteractiveStream {
    const { streams, slots, requestTimeoutMs } = this.#options;
    if (streams === null || !slots.isFree) throw new Error('no free stream');
    const stream = streams.open(start, { timeoutMs: requestTimeoutMs, signal });
    slots.take();
    this.#open.add(stream);
    void stream.over.then((error) => this.#closed(stream, error));
    return stream;
  }

  stop(): void {
    this.#stopped = true;
    for (const stream of this.#open)
      stream.close(new StreamError('UNAVAILABLE', 'the guard went out of use'));
  }

  /** As for a request, an error may mean that the endpoint is out of use or overloaded. It is never retried here. */
  #closed(stream: InteractiveStream, error: unknown): void {
    const { slots, health, events, released } = this.#options;
    this.#open.delete(stream);
    slots.release();
    if (this.#stopped) return;
    if (error === null) health.judged();
    else if (error instanceof CallError) {
      const { fault } = error;
      if (fault.kind === 'endpoint') events.down({ reason: fault.reason, reached: fault.reached });
      else if (fault.kind === 'fatal') events.down({ reason: fault.reason, fatal: true });
      else if (fault.kind === 'overload') slots.concurrency?.overloaded();
    }
    released();
  }
}
