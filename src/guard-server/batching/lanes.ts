import type { Serving } from '../contract/definition.ts';
import { type Batcher, DynamicBatcher } from './dynamic-batcher.ts';
import type { Model } from '../contract/model.ts';

/**
 * Two queues in front of one model: one for images and clips, each of which is judged and answered by itself, one for
 * everything else. A text takes a millisecond and does not wait behind images, which take a hundred times as long;
 * to judge images together would gain nothing. The model must be able to work on one execution of each at a time.
 */
export class Lanes implements Batcher {
  readonly #texts: DynamicBatcher;
  readonly #media: DynamicBatcher;

  constructor(model: Model, serving: Serving) {
    this.#texts = new DynamicBatcher(model, serving);
    this.#media = new DynamicBatcher(model, { ...serving, maxBatchSize: 1 });
  }

  submit(...[request, settle]: Parameters<Batcher['submit']>): () => void {
    const isMedia = request.strings.has('IMAGE') || request.strings.has('AUDIO');
    return (isMedia ? this.#media : this.#texts).submit(request, settle);
  }
}
