import { CallError, type Fault } from '../protocol/call-error.ts';
import type { CallOptions } from '../protocol/connection.ts';
import type { StreamStart } from '../streams/generation-stream.ts';
import { GuardStreamError } from '../streams/guard-stream-error.ts';
import type { GuardStreams } from '../streams/guard-streams.ts';
import type { InteractiveStream } from '../streams/interactive-stream.ts';
import type { StreamSlots } from '../streams/stream-slots.ts';
import type { BarredRequests } from './barred-requests.ts';
import type { EndpointEvents } from './events.ts';
import type { GuardHealth } from './guard-health.ts';

interface InteractiveStreamsOptions {
  /** Null for a guard without streams. */
  readonly streams: GuardStreams | null;
  readonly slots: StreamSlots;
  /** The signal is aborted when the endpoint goes out of use. */
  readonly calls: CallOptions;
  readonly health: Pick<GuardHealth, 'judged'>;
  readonly barred: BarredRequests;
  readonly events: Pick<EndpointEvents, 'down' | 'crashed'>;
  /** Called when a slot became free. */
  readonly released: () => void;
}

/** The interactive streams of one endpoint, while it is in use. */
export class InteractiveStreams {
  readonly #options: InteractiveStreamsOptions;
  readonly #open = new Set<InteractiveStream>();
  readonly #limit = new StreamLimit();

  constructor(options: InteractiveStreamsOptions) {
    this.#options = options;
  }

  /** Streams open at the endpoint, including those that are replayed. */
  get size(): number {
    return this.#options.slots.open;
  }

  /** Whether another stream may be opened now. */
  get isFree(): boolean {
    return this.#options.streams !== null && this.size + 1 <= this.#limit.streams;
  }

  /** Opens a stream. Requires `isFree`. Throws the signal's reason when it is aborted. */
  open(start: StreamStart, signal: AbortSignal): InteractiveStream {
    const { streams, slots, calls } = this.#options;
    if (streams === null || !this.isFree) throw new Error('no free stream');
    const stream = streams.open(start, { timeoutMs: calls.timeoutMs, signal });
    slots.take();
    this.#open.add(stream);
    void stream.over.then((error) => this.#closed(stream, error));
    return stream;
  }

  stop(): void {
    for (const stream of this.#open)
      stream.close(new GuardStreamError('UNAVAILABLE', 'the guard went out of use'));
  }

  /**
   * Handles the end of a stream. As for a request, an error may mean that the endpoint is out of use or overloaded. It
   * is never retried here.
   */
  #closed(stream: InteractiveStream, error: unknown): void {
    const { slots, health, released } = this.#options;
    this.#open.delete(stream);
    slots.release();
    if (this.#options.calls.signal.aborted) return;
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
            if (found.kind === 'failed' && !this.#options.calls.signal.aborted) events.down(found);
          },
          (error: unknown) => {
            if (!this.#options.calls.signal.aborted) events.crashed(error);
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

/** Max streams that callers may have open at one endpoint. */
const MAX_STREAMS = 64;
/** Time in which the limit doubles after an overload, in milliseconds. */
const DOUBLING_MS = 1000;

/**
 * Limits the streams that callers have open at one endpoint. The duration and speed of a stream depend on its caller,
 * so unlike for other requests, there is no throughput to derive a limit from. If a guard takes fewer, it rejects some:
 * the limit then falls to the number open, and grows back with time.
 */
class StreamLimit {
  #lowered = MAX_STREAMS;
  #loweredAt = 0;

  get streams(): number {
    const doublings = (performance.now() - this.#loweredAt) / DOUBLING_MS;
    return Math.min(MAX_STREAMS, this.#lowered * 2 ** doublings);
  }

  /** Called when the guard rejected a stream because it is overloaded. `open` is the number of remaining streams. */
  overloaded(open: number): void {
    this.#lowered = Math.max(1, Math.min(open, this.streams));
    this.#loweredAt = performance.now();
  }
}
