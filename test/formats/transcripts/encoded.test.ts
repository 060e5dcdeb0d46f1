import { expect, test } from 'vitest';
import type { TextRequest } from '../../../src/domain/request.ts';
import { rejectEncoded } from '../../../src/formats/transcripts/draft.ts';

const ENCODED = Buffer.from('words that nobody is to read, '.repeat(20)).toString('base64');
const chat = { requestType: 'multiturn', modality: 'text', turns: 2 } as const;

test.each<[what: string, request: TextRequest, isRefused: boolean]>([
  ['a prompt', { requestType: 'prompt', modality: 'text', text: ENCODED }, true],
  ['a response', { requestType: 'response', modality: 'text', prompt: 'why', response: ENCODED }, true],
  [
    'a generation in chunks',
    {
      ...{ requestType: 'generation', modality: 'text', prompt: 'why', cadenceChunks: 1 },
      chunks: [ENCODED.slice(0, 50), ENCODED.slice(50)],
    },
    true,
  ],
  [
    'a turn of a conversation',
    {
      ...{ ...chat, conversation: null },
      messages: [
        ['user', ENCODED],
        ['user', 'thanks'],
      ],
    },
    true,
  ],
  [
    'a turn behind the last one',
    {
      ...{ ...chat, turns: 1, conversation: null },
      messages: [
        ['user', 'hello'],
        ['user', ENCODED],
      ],
    },
    false,
  ],
])('encoded data is judged nowhere: %s', (_, request, isRefused) => {
  const { error } = rejectEncoded({ suffix: '', request, error: null });
  expect(error?.code ?? null).toBe(isRefused ? 'UNSUPPORTED_TYPE' : null);
});
