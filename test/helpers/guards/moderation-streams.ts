import { ModelStatistics } from '../../../src/guard-server/batching/model-statistics.ts';
import { WindowJudging } from '../../../src/guard-server/streams/window-judging.ts';
import { startSynthetic, syntheticSource } from '../../../src/guard-server/model-sources.ts';
import { GuardService } from '../../../src/guard-server/service/guard-service.ts';
import { ModelLifecycle } from '../../../src/guard-server/service/model-lifecycle.ts';
import { ModelRepository } from '../../../src/guard-server/service/model-repository.ts';
import type { ModerationStream } from '../../../src/http/streams/moderation-stream.ts';
import { ModerationStreams } from '../../../src/http/streams/moderation-streams.ts';
import { STREAM_LIMITS, type StreamLimits } from '../../../src/http/streams/stream-limits.ts';
import type { StreamRequest, StreamVerdict } from '../../../src/guard/tensors/stream/stream-messages.ts';

/** The moderation streams of a server with the synthetic model, without a transport. */
export async function startStreams(limits: Partial<StreamLimits> = {}): Promise<ModerationStreams> {
  const serving = { maxBatchSize: 64, instances: 1, maxQueueSize: 1024 };
  const statistics = new ModelStatistics();
  const started = await startSynthetic({ serviceTime: 'zero' }, serving, statistics, () => {});
  const lifecycle = new ModelLifecycle(syntheticSource(started));
  await lifecycle.load();
  const repository = new ModelRepository(lifecycle, 'none');
  const isDown = () => started.model.isDown();
  const service = new GuardService({ lifecycle, repository, statistics, serving, isDown });
  const judging = new WindowJudging({ service, contextTokens: 8192, maxQueueSize: serving.maxQueueSize });
  return new ModerationStreams(judging, { ...STREAM_LIMITS, ...limits });
}

/** A stream without a transport, with everything it said. */
export class RecordedStream {
  readonly verdicts: StreamVerdict[] = [];
  /** The status it ended with, 'OK' without an error. */
  status: string | null = null;
  readonly ended: Promise<string>;
  readonly stream: ModerationStream;
  #wake: (() => void)[] = [];

  constructor(streams: ModerationStreams) {
    let settle: (status: string) => void;
    this.ended = new Promise((resolve) => (settle = resolve));
    this.stream = streams.start('one', {
      verdict: ({ verdict }) => {
        this.verdicts.push(verdict);
        for (const wake of this.#wake.splice(0)) wake();
        return true;
      },
      ended: (error) => {
        if (this.status !== null) throw new Error('the stream ended twice');
        this.status = error?.status ?? 'OK';
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
