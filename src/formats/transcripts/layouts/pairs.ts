import type { Audit } from '../../../config/run-config.ts';
import { itemError } from '../../../domain/item-error.ts';
import type { Fields } from '../../record.ts';
import { draftTurns } from '../turns/conversation.ts';
import {
  isBlank,
  createPromptDraft,
  createResponseDraft,
  createFailedDraft,
  type Draft,
  type RecordDrafts,
} from '../draft.ts';
import { readChunks } from '../generations.ts';
import { toText, parseTurns } from '../values.ts';

/** Names of the answer to a prompt or an instruction. */
const ANSWERS = ['response', 'completion', 'output'];

const WRONG_TYPE = itemError('MALFORMED_ROW', 'the prompt or the response is not text');

/**
 * Makes the item of a prompt with its answer: `prompt` and one of `response`, `completion`, `output`, each text or a list of
 * turns. Null for any other record.
 */
export function draftPromptResponse(fields: Fields, audit: Audit): RecordDrafts | null {
  const prompt = fields.get('prompt');
  const answer = ANSWERS.find((name) => fields.get(name) !== undefined && fields.get(name) !== null);
  if (prompt === undefined || answer === undefined) return null;
  const response = fields.get(answer);
  const judged = ['prompt', answer];
  const promptTurns = parseTurns(prompt);
  if (promptTurns) {
    const answerTurns = parseTurns(response) ?? [{ role: 'assistant', content: response }];
    const turns = [...promptTurns, ...answerTurns];
    return { drafts: draftTurns(turns, { audit, suffix: '', position: 0 }), judged };
  }
  return { drafts: [createAnswerDraft(toText(prompt), toText(response))], judged };
}

/**
 * Makes the item of a prompt with its recorded generation: `prompt` and `chunks`, a list of strings. Null for any other
 * record, including one that has an answer other than its chunks.
 */
export function draftRecordedGeneration(fields: Fields): RecordDrafts | null {
  const chunks = readChunks(fields.get('chunks'));
  const prompt = toText(fields.get('prompt'));
  if (chunks === null || typeof prompt !== 'string' || parseTurns(prompt)) return null;
  const response = chunks.join('');
  const answers = ANSWERS.filter((name) => fields.get(name) !== undefined && fields.get(name) !== null);
  if (answers.some((name) => fields.get(name) !== response)) return null;
  return {
    drafts: [createGenerationDraft(prompt, chunks, response)],
    judged: ['prompt', 'chunks', ...answers],
  };
}

/** Makes the items of a prompt that is a list of turns, without an answer. Null for any other record. */
export function draftPromptTurns(fields: Fields, audit: Audit): RecordDrafts | null {
  const turns = parseTurns(fields.get('prompt'));
  if (!turns) return null;
  return { drafts: draftTurns(turns, { audit, suffix: '', position: 0 }), judged: ['prompt'] };
}

/** Alpaca: makes the item of an `instruction`, an optional `input`, and an answer to both. Null for any other record. */
export function draftAnsweredInstruction(fields: Fields): RecordDrafts | null {
  const instruction = toText(fields.get('instruction'));
  const answer = ANSWERS.find((name) => fields.get(name) !== undefined && fields.get(name) !== null);
  if (instruction === undefined || answer === undefined) return null;
  const prompt = joinInstruction(instruction, toText(fields.get('input')));
  return {
    drafts: [createAnswerDraft(prompt, toText(fields.get(answer)))],
    judged: ['instruction', 'input', answer],
  };
}

/** Makes the item of an instruction without an answer. Null for any other record. */
export function draftInstruction(fields: Fields): RecordDrafts | null {
  const instruction = toText(fields.get('instruction'));
  if (instruction === undefined) return null;
  const prompt = joinInstruction(instruction, toText(fields.get('input')));
  const draft = prompt === null ? createFailedDraft('', 'prompt', WRONG_TYPE) : createPromptDraft('', prompt);
  return { drafts: [draft], judged: ['instruction', 'input'] };
}

function createAnswerDraft(prompt: string | null | undefined, response: string | null | undefined) {
  if (prompt === null || response === null) return createFailedDraft('', 'response', WRONG_TYPE);
  return createResponseDraft('', prompt ?? null, response ?? '');
}

function createGenerationDraft(prompt: string, chunks: readonly string[], response: string): Draft {
  if (isBlank(prompt) || isBlank(response)) return createResponseDraft('', prompt, response);
  // The configuration of the source sets the cadence.
  const request = { requestType: 'generation', modality: 'text', prompt, chunks, cadenceChunks: 1 } as const;
  return { suffix: '', request, error: null };
}

function joinInstruction(instruction: string | null, input: string | null | undefined): string | null {
  if (instruction === null || input === null) return null;
  return [instruction, input ?? ''].filter((part) => !isBlank(part)).join('\n\n');
}
