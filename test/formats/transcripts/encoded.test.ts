import { expect, test } from 'vitest';
import type { TextRequest } from '../../../src/domain/request.ts';
import { rejectEncoded } from '../../../src/formats/transcripts/draft.ts';
import { conversation, generation, response } from '../../helpers/guards/requests.ts';

const ENCODED = Buffer.from('words that nobody is to read, '.repeat(20)).toString('base64');
const CHUNKS = [ENCODED.slice(0, 50), ENCODED.slice(50)];
const chat = (turns: number, ...texts: string[]) =>
  conversation(
    texts.map((text) => ['user', text] as const),
    { turns },
  );

test.each<[what: string, request: TextRequest, isRefused: boolean]>([
  ['a response', response('why', ENCODED), true],
  ['a generation', generation(CHUNKS), true],
  ['a turn of a conversation', chat(2, ENCODED, 'thanks'), true],
  ['a turn behind the last one', chat(1, 'hello', ENCODED), false],
])('encoded data is judged nowhere: %s', (_, request, isRefused) => {
  const { error } = rejectEncoded({ suffix: '', request, error: null });
  expect(error?.code ?? null).toBe(isRefused ? 'UNSUPPORTED_TYPE' : null);
});
