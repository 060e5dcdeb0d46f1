import { StreamLimit } from '../concurrency/stream-limit.ts';
import { CallError, type Fault } from '../protocol/call-error.ts';
import type { StreamStart } from '../streams/generation-stream.ts';
import type { GuardStreams } from '../streams/guard-streams.ts';
import type { InteractiveStream } from '../streams/interactive-stream.ts';
import { GuardStreamError } from '../streams/guard-stream-error.ts';
import type { StreamSlots } from '../streams/stream-slots.ts';
import type { BarredRequests } from './barred-requests.ts';
import type { EndpointEvents } from './events.ts';
import type { GuardHealth } from './guard-health.ts';

interface InteractiveStreamsOptions {
  /** Null for a guard without streams. */
  readonly streams: GuardStreams | null;
  readonly slots: StreamSlots;
  readonly requestTimeoutMs: number;
  readonly health: Pick<GuardHealth, 'judged'>;
  readonly barred: BarredRequests;
  readonly events: Pick<EndpointEvents, 'down' | 'crashed'>;
  /** A slot became free. */
  readonly released: () => void;
}

/** The interactive streams of one endpoint, while it is in use. */
export class InteractiveStreams {
  readonly #options: InteractiveStreamsOptions;
  readonly #open = new Set<InteractiveStream>();
  readonly #limit = new StreamLimit();
  #stopped = false;

  constructor(options: InteractiveStreamsOptions) {
    this.#options = options;
  }

  /** Whether another stream may be opened now. Those that are replayed count as well. */
  get isFree(): boolean {
    const { streams, slots } = this.#options;
    return streams !== null && slots.open + 1 <= this.#limit.streams;
  }

  /** Needs `isFree`. Throws the signal's reason when it is aborted. */
  open(start: StreamStart, signal: AbortSignal): InteractiveStream {
    const { streams, slots, requestTimeoutMs } = this.#options;
    if (streams === null || !this.isFree) throw new Error('no free stream');
    const stream = streams.open(start, { timeoutMs: requestTimeoutMs, signal });
    slots.take();
    this.#open.add(stream);
    void stream.over.then((error) => this.#closed(stream, error));
    return stream;
  }

  stop(): void {
    this.#stopped = true;
    for (const stream of this.#open)
      stream.close(new GuardStreamError('UNAVAILABLE', 'the guard went out of use'));
  }

  /** As for a request, an error may mean that the endpoint is out of use or overloaded. It is never retried here. */
  #closed(stream: InteractiveStream, error: unknown): void {
    const { slots, health, released } = this.#options;
    this.#open.delete(stream);
    slots.release();
    if (this.#stopped) return;
    if (error === null) health.judged();
    else if (error instanceof CallError) this.#failed(error.fault);
    released();
  }

  #failed(fault: Fault): void {
    const { barred, events, slots } = this.#options;
    switch (fault.kind) {
      case 'endpoint':
        events.down(fault);
        return;
      case 'barred':
        barred.find('generation').then(
          (found) => {
            if (found.kind === 'failed' && !this.#stopped) events.down(found);
          },
          (error: unknown) => {
            if (!this.#stopped) events.crashed(error);
          },
        );
        return;
      case 'overload':
      case 'rate':
        this.#limit.overloaded(slots.open);
        return;
      default:
    }
  }
}
