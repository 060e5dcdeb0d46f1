import { expect, test } from 'vitest';
import type { TextRequest } from '../../../src/domain/request.ts';
import { rejectEncoded } from '../../../src/formats/transcripts/draft.ts';

const ENCODED = Buffer.from('words that nobody is to read, '.repeat(20)).toString('base64');
const CHUNKS = [ENCODED.slice(0, 50), ENCODED.slice(50)];
const chat = (turns: number, ...texts: string[]): TextRequest => ({
  requestType: 'multiturn',
  modality: 'text',
  turns,
  conversation: null,
  messages: texts.map((text) => ['user', text] as const),
});
const text = { modality: 'text', prompt: 'why' } as const;

test.each<[what: string, request: TextRequest, isRefused: boolean]>([
  ['a response', { requestType: 'response', ...text, response: ENCODED }, true],
  ['a generation', { requestType: 'generation', ...text, chunks: CHUNKS, cadenceChunks: 1 }, true],
  ['a turn of a conversation', chat(2, ENCODED, 'thanks'), true],
  ['a turn behind the last one', chat(1, 'hello', ENCODED), false],
])('encoded data is judged nowhere: %s', (_, request, isRefused) => {
  const { error } = rejectEncoded({ suffix: '', request, error: null });
  expect(error?.code ?? null).toBe(isRefused ? 'UNSUPPORTED_TYPE' : null);
});
