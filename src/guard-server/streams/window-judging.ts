import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import type { DueText } from '../../http/streams/due-text.ts';
import type { JudgeEvents, NotReady, PrefixJudge, StreamJudging } from '../../http/streams/prefix-judge.ts';
import type { StreamSettings } from '../../http/streams/stream-settings.ts';
import { tokensOfBytes, tokensOfText } from '../contract/context-window.ts';
import { RequestError } from '../contract/request-error.ts';
import type { GuardService } from '../service/guard-service.ts';
import { EvaluationSlots } from './evaluation-slots.ts';
import { type JudgingResources, MAX_WINDOWS, WindowJudge } from './window-judge.ts';
import { MAX_WINDOW_BYTES } from './windows.ts';

interface WindowJudgingOptions {
  readonly service: GuardService;
  /** Tokens of the model's context window. */
  readonly contextTokens: number;
  /** Max requests in the queue of the model; streams use up to half of it. */
  readonly maxQueueSize: number;
}

/** Judges the streams of a guard with its model, in windows of text. */
export class WindowJudging implements StreamJudging {
  readonly #resources: JudgingResources;
  readonly #maxPromptTokens: number;

  constructor({ service, contextTokens, maxQueueSize }: WindowJudgingOptions) {
    const slots = new EvaluationSlots(Math.max(1, Math.floor(maxQueueSize / 2 / MAX_WINDOWS)));
    this.#resources = { service, slots };
    this.#maxPromptTokens = contextTokens - tokensOfBytes(MAX_WINDOW_BYTES);
  }

  notReady(): NotReady | null {
    try {
      this.#resources.service.requireModel(MODEL_NAME, '');
      return null;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return { event: 'not available', text: error.message };
    }
  }

  faultOfPrompt(prompt: string): string | null {
    if (tokensOfText(prompt) <= this.#maxPromptTokens) return null;
    return `SEQUENCE_OVERFLOW: the prompt of a stream has at most ${this.#maxPromptTokens} tokens`;
  }

  judge(settings: StreamSettings, due: DueText, events: JudgeEvents): PrefixJudge {
    return new WindowJudge(this.#resources, settings, due, events);
  }
}
