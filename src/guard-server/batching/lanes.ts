import type { Serving } from '../contract/definition.ts';
import { type Batcher, DynamicBatcher } from './dynamic-batcher.ts';
import type { Model } from '../contract/model.ts';
import type { ModelStatistics } from './model-statistics.ts';

/**
 * Two queues in front of one model: images and audio clips, one per execution, and everything else. A text takes a
 * millisecond and must not wait behind images, which take a hundred times as long and gain nothing from batching. The
 * model must support an execution of each queue at the same time.
 */
export class Lanes implements Batcher {
  readonly #texts: DynamicBatcher;
  readonly #media: DynamicBatcher;

  constructor(model: Model, serving: Serving, statistics: ModelStatistics) {
    this.#texts = new DynamicBatcher(model, serving, statistics);
    this.#media = new DynamicBatcher(model, { ...serving, maxBatchSize: 1 }, statistics);
  }

  get waiting(): number {
    return this.#texts.waiting + this.#media.waiting;
  }

  submit(...[request, settle]: Parameters<Batcher['submit']>): () => void {
    const isMedia = request.strings.has('IMAGE') || request.strings.has('AUDIO');
    return (isMedia ? this.#media : this.#texts).submit(request, settle);
  }

  async drained(): Promise<void> {
    await Promise.all([this.#texts.drained(), this.#media.drained()]);
  }
}
