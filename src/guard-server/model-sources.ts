import { DynamicBatcher } from './batching/dynamic-batcher.ts';
import { Lanes } from './batching/lanes.ts';
import { DEFAULT_CONTEXT_TOKENS } from './contract/context-window.ts';
import type { ModelStatistics } from './batching/model-statistics.ts';
import { ContractModel } from './contract/contract-model.ts';
import type { Serving } from './contract/definition.ts';
import type { ModelSource } from './service/model-lifecycle.ts';
import type { SyntheticModel, SyntheticOptions } from './synthetic/synthetic-model.ts';

const LITE_VERSION = '1';

/** Source of the lite model. Its code and its weights are read only when it is loaded. */
export function liteSource(serving: Serving, statistics: ModelStatistics, allScores: boolean): ModelSource {
  return {
    version: LITE_VERSION,
    load: async () => {
      const { loadLiteProbe } = await import('./lite/lite-probe.ts');
      const probe = await loadLiteProbe();
      const model = new ContractModel(probe, {
        version: LITE_VERSION,
        contextTokens: DEFAULT_CONTEXT_TOKENS,
        allScores,
      });
      return { model, batcher: new Lanes(model, serving, statistics), close: () => probe.close() };
    },
  };
}

export interface Synthetic {
  readonly model: SyntheticModel;
  /** A single queue, as in Triton. */
  readonly batcher: DynamicBatcher;
}

/**
 * Starts the synthetic model, whose code is read only here. `onClosed` is called when a fault makes the server stop
 * listening, temporarily or permanently.
 */
export async function startSynthetic(
  options: SyntheticOptions,
  serving: Serving,
  statistics: ModelStatistics,
  onClosed: (forMs: number | undefined) => void,
): Promise<Synthetic> {
  const { SyntheticModel } = await import('./synthetic/synthetic-model.ts');
  const model = new SyntheticModel(options, onClosed);
  return { model, batcher: new DynamicBatcher(model, serving, statistics, () => model.isOverloaded()) };
}

/** Source of the synthetic model, which outlives unloading: its fault script and its counts belong to the server. */
export function syntheticSource({ model, batcher }: Synthetic): ModelSource {
  return {
    get version() {
      return model.version;
    },
    load: () => Promise.resolve({ model, batcher, close: () => Promise.resolve() }),
  };
}
