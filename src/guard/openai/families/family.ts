import type { GuardPolicy } from '../../../domain/guard/guard-family.ts';
import type { UnaryRequest } from '../../../domain/request.ts';
import type { Answer } from '../../protocol/answer.ts';
import type { Completion } from '../completion.ts';
import type { Message } from '../messages.ts';

/** One call of the model. */
export interface Question {
  readonly messages: readonly Message[];
  readonly maxTokens: number;
  /** Arguments of the model's chat template. */
  readonly templateArguments?: Readonly<Record<string, unknown>>;
  /** JSON Schema of the answer, for servers that enforce one. */
  readonly answerSchema?: object;
}

/** Sends a question to the model; null if the reply cannot be parsed. */
export type Ask = (question: Question) => Promise<Completion | null>;

/** The served model, and the policy that it judges by. */
export interface ServedModel {
  readonly model: string;
  readonly policy: GuardPolicy | null;
}

/** How to ask the models of one family, and how to read their answers. */
export interface Family {
  readonly seesImages: boolean;
  /** Whether answers have probabilities, if the server provides them. */
  readonly hasProbabilities: boolean;
  /** The instructions in addition to the content. The guard declares them. */
  readonly declares: Readonly<Record<string, string>>;
  /** Template arguments that change the prompt of a harmless text; omitted if the family uses none. */
  readonly otherArguments?: readonly Readonly<Record<string, unknown>>[];
  /** Judges an item; null if a reply is not an answer of this family. */
  judge(request: UnaryRequest, ask: Ask): Promise<Answer | null>;
}
