import type { GuardFamily, GuardPolicy } from '../../../domain/guard/guard-family.ts';
import type { UnaryRequest } from '../../../domain/request.ts';
import type { Answer } from '../../protocol/answer.ts';
import type { RequestKind } from '../../tensors/encode-request.ts';
import type { Completion } from '../completion.ts';
import type { Message } from '../messages.ts';

/** One call of the model. */
export interface Question {
  readonly messages: readonly Message[];
  readonly maxTokens: number;
  /** Arguments of the model's chat template. */
  readonly templateArguments?: Readonly<Record<string, unknown>>;
  /** JSON Schema that the answer must fit, for servers that see to it. */
  readonly answerSchema?: object;
}

/** The reply to a question; null when it is none. */
export type Ask = (question: Question) => Promise<Completion | null>;

/** The model that is served, and what it is to judge by. */
export interface Served {
  readonly model: string;
  /** Null: none was given. */
  readonly policy: GuardPolicy | null;
}

/** How models of one family are asked, and how they answer. */
export interface Family {
  readonly name: GuardFamily;
  /** Whether the answers have probabilities, where the server gives them. */
  readonly hasProbabilities: boolean;
  /** What the model is told besides the content: part of what the guard declares. */
  readonly declares: Readonly<Record<string, string>>;
  /** Template arguments with which a harmless text becomes another prompt than in `judge`; left out: it uses none. */
  readonly otherArguments?: readonly Readonly<Record<string, unknown>>[];
  takes(requestKind: RequestKind): boolean;
  /** Null when a reply is not an answer of this family. */
  judge(request: UnaryRequest, ask: Ask): Promise<Answer | null>;
}
