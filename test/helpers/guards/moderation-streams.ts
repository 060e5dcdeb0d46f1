import { ModelStatistics } from '../../../src/guard-server/batching/model-statistics.ts';
import { WindowJudging } from '../../../src/guard-server/streams/window-judging.ts';
import { startSynthetic, syntheticSource } from '../../../src/guard-server/model-sources.ts';
import { GuardService } from '../../../src/guard-server/service/guard-service.ts';
import { ModelLifecycle } from '../../../src/guard-server/service/model-lifecycle.ts';
import { ModelRepository } from '../../../src/guard-server/service/model-repository.ts';
import type { ModerationStream } from '../../../src/http/streams/moderation-stream.ts';
import { ModerationStreams } from '../../../src/http/streams/moderation-streams.ts';
import { STREAM_LIMITS, type StreamLimits } from '../../../src/http/streams/stream-limits.ts';
import type { SyntheticOptions } from '../../../src/guard-server/synthetic/synthetic-model.ts';
import type { StreamRequest, StreamVerdict } from '../../../src/guard/tensors/stream/stream-messages.ts';

/** The moderation streams of a server with the synthetic model, without a transport. */
export async function startStreams(limits: Partial<StreamLimits> = {}, synthetic: SyntheticOptions = {}) {
  const serving = { maxBatchSize: 64, instances: 1, maxQueueSize: synthetic.maxQueueSize ?? 1024 };
  const statistics = new ModelStatistics();
  const options = { serviceTime: 'zero', ...synthetic } as const;
  const started = await startSynthetic(options, serving, statistics, () => {});
  const lifecycle = new ModelLifecycle(syntheticSource(started));
  await lifecycle.load();
  const service = new GuardService({
    lifecycle,
    repository: new ModelRepository(lifecycle, 'none'),
    statistics,
    serving,
    isDown: () => started.model.isDown(),
  });
  const { contextTokens = 8192 } = synthetic;
  const judging = new WindowJudging({ service, contextTokens, maxQueueSize: serving.maxQueueSize });
  const streams = new ModerationStreams(judging, { ...STREAM_LIMITS, ...limits });
  return { streams, model: started.model, lifecycle };
}

/** A stream without a transport, with everything it said. */
export class RecordedStream {
  readonly verdicts: StreamVerdict[] = [];
  /** The status it ended with, 'OK' without an error. */
  status: string | null = null;
  text = '';
  readonly ended: Promise<string>;
  /** Whether the client reads its verdicts. */
  reads = true;
  readonly stream: ModerationStream;
  #wake: (() => void)[] = [];

  constructor(streams: ModerationStreams, connection = 'one') {
    let settle: (status: string) => void;
    this.ended = new Promise((resolve) => (settle = resolve));
    this.stream = streams.start(connection, {
      verdict: ({ verdict }) => {
        this.verdicts.push(verdict);
        for (const wake of this.#wake.splice(0)) wake();
        return this.reads;
      },
      ended: (error) => {
        if (this.status !== null) throw new Error('the stream ended twice');
        this.status = error?.status ?? 'OK';
        this.text = error?.text ?? '';
        settle(this.status);
        for (const wake of this.#wake.splice(0)) wake();
      },
    });
  }

  send(request: Partial<StreamRequest>): void {
    this.stream.receive(message(request));
  }

  /** Waits for the next verdict, or the end. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }
}

/** A message with a seq of 0 and nothing else, unless given. */
export function message(given: Partial<StreamRequest>): StreamRequest {
  return { streamId: '', seq: 0, prompt: null, chunk: null, endOfStream: false, cadence: null, ...given };
}
