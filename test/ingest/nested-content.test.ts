import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Item } from '../../src/domain/item.ts';
import { corpus, inspect, parseCases, readItems, testFolder } from './read-items.ts';

/** What an item asks, in a line: its id, and its text, its turns or its code. */
function shown({ id, request, settled }: Item): string {
  if (request === null) return `${id}: ${settled.error?.code}`;
  if (request.modality !== 'text') return `${id}: <${request.modality}>`;
  if (request.requestType === 'prompt') return `${id}: ${request.text}`;
  if (request.requestType === 'response') return `${id}: ${request.prompt} -> ${request.response}`;
  if (request.requestType === 'generation') return `${id}: ${request.prompt} -> ${request.chunks.join('|')}`;
  return `${id}: ${request.messages
    .slice(0, request.turns)
    .map(([role, content]) => `${role}=${content}`)
    .join(' | ')}`;
}

/** A name after `#`, the record as JSON, and each of its items after `=`. */
const CASES = parseCases(String.raw`
# a dialogue of speakers is a conversation, in which the system answers
{"dialogue_id": "d_1", "turns": [{"speaker": "USER", "utterance": "A table for two."},
  {"speaker": "SYSTEM", "utterance": "Where?"}]}
= a.jsonl#1: user=A table for two. | assistant=Where?
# comments without authors are items each, beside the text
{"id": "x", "text": "A post", "comments": [{"text": "First"}, {"text": "Second",
  "replies": [{"text": "Third"}]}]}
= x: A post
= x#nested1: First
= x#nested2: Second
= x#nested3: Third
# comments with authors are a conversation, and so are the replies to each
{"id": "x", "title": "A post about it", "replies": [{"author": "ann", "body": "One",
  "replies": [{"author": "bob", "body": "Two", "replies": []}]}, {"author": "cid", "body": "Three"}]}
= x: A post about it
= x#nested2: user=One | user=Three
= x#nested3: user=Two
# a list of instances, of any known shape
{"id": "x", "instances": [{"prompt": "Q", "response": "A"}, {"messages": [{"role": "user",
  "content": "Hi"}]}, "some words here", {"chosen": "this", "rejected": "that"}]}
= x: Q -> A
= x#nested2: user=Hi
= x#nested3: some words here
= x#nested4#chosen: this
= x#nested4#rejected: that
# strings with words under any name, in an object of objects
{"id": "x", "text": "T", "meta": {"lang": "en", "by": {"deeper": {"remark7": "go away"}}}}
= x: T
= x#nested1: go away
# arguments of calls, be they text or an object, in a list of calls or a single one
{"id": "x", "messages": [{"role": "user", "content": "Send it"}, {"role": "assistant", "content": null,
  "tool_calls": [{"id": "c_1", "type": "function", "function": {"name": "send",
  "arguments": {"text": "bad words"}}}, {"name": "send", "arguments": "{\"n\":1}",
  "why": "they asked for it"}]}, {"role": "assistant", "content": "Done",
  "tool_calls": {"function": {"name": "b", "arguments": [7]}}}, {"role": "assistant", "content": null,
  "function_call": {"name": "c", "arguments": {"a": {"b": "c d"}}}}]}
= x: user=Send it | assistant={"text":"bad words"}\n{"n":1} | assistant=Done\n[7] | assistant={"a":{"b":"c d"}}
= x#nested1: they asked for it
# what the parts of a message hold beside their text
{"id": "x", "messages": [{"role": "user", "content": [{"type": "text", "text": "Look",
  "citations": [{"cited_text": "some words of a book"}]}, {"type": "image_url",
  "image_url": {"url": "https://example.org/a.png"}, "alt": "bad words"}, {"type": "input_audio",
  "input_audio": {"data": "LONG_BASE64", "format": "wav"}, "said": "go away"}]}, ["user", [{"type": "text",
  "text": "Hm", "note": "more bad words"}]]]}
= x: user=Look | user=Hm
= x#image1: UNSUPPORTED_TYPE
= x#audio1: UNSUPPORTED_TYPE
= x#nested1: some words of a book
= x#nested2: bad words
= x#nested3: go away
= x#nested4: more bad words
# a preference prompt that neither side has
{"id": "x", "prompt": "bad words", "chosen": [{"role": "user", "content": "hi"}],
  "rejected": [{"role": "user", "content": "ho"}]}
= x#chosen: user=hi
= x#rejected: user=ho
= x#prompt: bad words
# long annotations of a turn, unless they repeat it
{"id": "x", "turns": [{"speaker": "USER", "utterance": "At half past one in the afternoon, please.",
  "slots": {"time": ["half past one in the afternoon"], "place": "San Jose"}}, {"speaker": "SYSTEM",
  "utterance": "Done.", "found": [{"at": "the house with a red door"}]}, {"speaker": "USER",
  "utterance": "Bye.", "found": [{"at": "a house there"}]}]}
= x: user=At half past one in the afternoon, please. | assistant=Done. | user=Bye.
= x#nested2: the house with a red door
# labels beside a text are no items
{"id": "x", "text": "T", "tags": ["a", "b"], "lang": {"code": "en"}}
= x: T
`);

describe('what records hold in lists and objects', () => {
  const folder = testFolder();

  const items = async (record: unknown): Promise<string[]> =>
    (await readItems([corpus(folder.jsonl(record))])).map(shown);

  test.each(CASES)('%s', async (_name, record, expected) => {
    expect((await items(record)).map((item) => item.replaceAll('\n', '\\n'))).toEqual(expected);
  });

  test('a record is not judged by an id as its only string', async () => {
    const [item] = await items({ dialogue_id: 'd_1', turns: [] });
    expect(item).toMatch(/: (UNSUPPORTED_TYPE|MISSING_PAYLOAD)$/);
  });

  test('a bare list of turns is looked into as one in a record is', async () => {
    const more = { mood: 'bad', reasoning: 'bad words', replies: [{ text: 'more' }] };
    const reply = { role: 'assistant', content: 'ok', ...more };
    const turns = [{ role: 'user', content: 'hi' }, reply];
    expect(await items(turns)).toEqual([
      'a.jsonl#1: user=hi | assistant=ok',
      'a.jsonl#1#nested1: bad words',
      'a.jsonl#1#nested2: more',
    ]);
    const { unjudgedColumns } = await inspect([corpus(folder.at('a.jsonl'))]);
    expect(unjudgedColumns).toEqual([{ path: 'a.jsonl', columns: ['"mood"'] }]);
  });

  test('what is nested too deeply, or too much for one record, is one item with an error', async () => {
    const deep = `${'['.repeat(50_000)}"far in"${']'.repeat(50_000)}`;
    const path = folder.write('deep.jsonl', `{"id":"x","text":"T","deep":${deep}}\n`);
    expect((await readItems([corpus(path)])).map(shown)).toEqual(['x: T', 'x#nested1: MALFORMED_ROW']);
    const texts = Array.from({ length: 50_010 }, (_, at) => ({ text: `text ${at}` }));
    const many = await items({ id: 'x', many: texts });
    expect(many).toHaveLength(50_001);
    expect(many.at(-1)).toBe('x#nested50001: ITEM_TOO_LARGE');
  });

  test('names at the terminal the nested strings that nobody judges', async () => {
    const by = { lang: 'en', 'what somebody once wrote here': { x: 'c' } };
    const path = folder.jsonl({ id: 'x', topic: 'a', text: 'T', tags: ['b'], by });
    const columns = ['"topic"', '"tags"', '"by.lang"', 'inside column 5'];
    expect((await inspect([corpus(path)])).unjudgedColumns).toEqual([{ path: 'a.jsonl', columns }]);
  });

  test('no words are lost, wherever they are', async () => {
    const text = fc.stringMatching(/^[a-z]{3,9}( [a-z]{3,9}){4}$/);
    const names = fc.constantFrom('text', 'speaker', 'author', 'role', 'messages', 'replies', 'x', 'data');
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(names, tie('value'), { maxKeys: 3 }),
        fc.constantFrom('user', 7, null),
      ),
    })).value;
    await fc.assert(
      fc.asyncProperty(value, async (inner) => {
        const found = await readItems([corpus(folder.jsonl({ text: 'main words', inner: [inner] }))]);
        const judged = found.map(shown).join('\n');
        const isRefused = found.some(({ settled }) => settled !== null);
        expect(new Set(found.map(({ part }) => part)).size).toBe(found.length);
        for (const words of textsUnder(inner)) expect(isRefused || judged.includes(words)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

/** All strings with words in a value. */
function textsUnder(value: unknown): string[] {
  if (typeof value === 'string') return value.includes(' ') ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsUnder) : [];
}
