import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Failure } from '../../domain/failure.ts';
import { CATEGORY_COUNT } from '../../domain/taxonomy.ts';
import { featureFingerprint } from './feature-fingerprint.ts';
import { logistic } from './elementary.ts';
import { LiteNetwork, WINDOW_PENALTY } from './network.ts';
import { decodeRules, type LiteRules } from './rules.ts';
import { OUTPUTS, OVERALL, decodeWeights } from './weights-file.ts';

/** The text model's scores of one piece of content, in single precision, as on the wire. */
export interface TextScores {
  /** Probability of any hazard, 0 to 1. */
  readonly score: number;
  readonly flagged: boolean;
  /** Probability per category, in taxonomy order. */
  readonly categories: Float32Array;
  readonly categoryFlags: boolean[];
}

/** Fraction of the earlier turns' probability that carries over to the judged turn, by the role of that turn. */
export const CONTEXT_WEIGHT = {
  /** A user continues an earlier request, "and the next step?": an earlier hazard is enough to flag it. */
  user: 0.85,
  /** An answer to a hazardous request may be a refusal, so its own words count for more. */
  assistant: 0.3,
} as const;

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

/**
 * The embedded text model: a small network over hashed words and character n-grams, for demonstration and tests.
 * Deterministic: a score depends only on the content and the artifacts.
 */
export class LiteModel {
  /**
   * SHA-256 in hex of everything that scores depend on: weights, rules, feature extraction and composition of turns.
   */
  readonly artifacts: Readonly<Record<string, string>>;
  readonly #network: LiteNetwork;
  readonly #rules: LiteRules;

  /**
   * Creates a model from the bytes of its two files. Failure('internal') when they are damaged or do not match the
   * code.
   */
  constructor(weightsFile: Buffer, rulesFile: Buffer) {
    const features = featureFingerprint();
    this.#rules = decodeRules(rulesFile.toString('utf8'));
    if (this.#rules.features !== features) {
      throw new Failure(
        'internal',
        'the embedded text model was trained on other features: run npm run train',
      );
    }
    this.#network = new LiteNetwork(decodeWeights(weightsFile));
    this.artifacts = {
      'lite-composition': sha256(JSON.stringify({ CONTEXT_WEIGHT, WINDOW_PENALTY })),
      'lite-features': features,
      'lite-rules': sha256(rulesFile),
      'lite-weights': sha256(weightsFile),
    };
  }

  /** Loads the shipped model. Failure('internal') when it is missing, damaged or does not match the code. */
  static async load(): Promise<LiteModel> {
    try {
      const { resolve } = createRequire(import.meta.url);
      const [weights, rules] = await Promise.all([
        readFile(resolve('#weights/lite.bin')),
        readFile(resolve('#weights/lite.json')),
      ]);
      return new LiteModel(weights, rules);
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      throw new Failure('internal', 'the embedded text model cannot be read', { cause });
    }
  }

  /** Judges text alone, as written by a user. */
  scoreText(text: string): TextScores {
    return this.#decide(this.#probabilities(text));
  }

  /** Judges an assistant's answer in the context of its prompt, if any. */
  scoreResponse(prompt: string | null, response: string): TextScores {
    const own = this.#probabilities(response);
    const before = prompt === null || isBlank(response) ? [] : [prompt];
    return this.#decide(this.#inContext(own, before, CONTEXT_WEIGHT.assistant));
  }

  /** Judges the last turn of a conversation in the context of all earlier turns. */
  scoreConversation(messages: readonly (readonly [role: string, content: string])[]): TextScores {
    const [role, content] = messages.at(-1) ?? ['user', ''];
    const own = this.#probabilities(content);
    const before = isBlank(content) ? [] : messages.slice(0, -1).map(([, earlier]) => earlier);
    const weight = role === 'assistant' ? CONTEXT_WEIGHT.assistant : CONTEXT_WEIGHT.user;
    return this.#decide(this.#inContext(own, before, weight));
  }

  #probabilities(text: string): Float64Array {
    const logits = this.#network.logits(text);
    for (let output = 0; output < OUTPUTS; output++) {
      const { slope, offset } = this.#rules.calibration[output]!;
      logits[output] = logistic(slope * logits[output]! + offset);
    }
    return logits;
  }

  #inContext(own: Float64Array, before: readonly string[], weight: number): Float64Array {
    const worst = new Float64Array(OUTPUTS);
    for (const text of before) {
      const probabilities = this.#probabilities(text);
      for (let output = 0; output < OUTPUTS; output++) {
        worst[output] = Math.max(worst[output]!, probabilities[output]!);
      }
    }
    return own.map((probability, output) => inContext(probability, worst[output]!, weight));
  }

  #decide(probabilities: Float64Array): TextScores {
    const rounded = Float32Array.from(probabilities);
    const flags = Array.from(
      rounded,
      (probability, output) => probability >= this.#rules.thresholds[output]!,
    );
    return {
      score: rounded[OVERALL]!,
      flagged: flags[OVERALL]!,
      categories: rounded.slice(0, CATEGORY_COUNT),
      categoryFlags: flags.slice(0, CATEGORY_COUNT),
    };
  }
}

/** Whether a turn is blank: no earlier hazard carries over to it. */
function isBlank(text: string): boolean {
  return text.trim() === '';
}

/**
 * Probability that a turn is hazardous in its context: either its own words are, or the worst earlier turn is and
 * carries over, with probability `weight`. Arguments and result are from 0 to 1.
 */
function inContext(own: number, worstBefore: number, weight: number): number {
  return own + (1 - own) * weight * worstBefore;
}
