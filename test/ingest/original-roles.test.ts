import { describe, expect, test } from 'vitest';
import type { SourceConfig } from '../../src/config/run-config.ts';
import { corpus, parseCases, readItems, testFolder } from './read-items.ts';

/** A name after `#`, the record as JSON, and what is expected of each of its items after `=`, as JSON. */
const CASES = parseCases(String.raw`
# a text has none
{"text": "some words"}
= null
# the guard's own are not counted, in whatever case
{"messages": [{"role": "system", "content": "what the system says"}, {"role": "User",
  "content": "what the User says"}, {"role": "ASSISTANT", "content": "what the ASSISTANT says"}]}
= null
# tool and function are counted
{"messages": [{"role": "developer", "content": "what the developer says"}, {"role": "user",
  "content": "what the user says"}, {"role": "tool", "content": "what the tool says"}, {"role": "function",
  "content": "what the function says"}, {"role": "Tool", "content": "what the Tool says"},
  {"role": "assistant", "content": "what the assistant says"}]}
= {"developer":1,"tool":2,"function":1}
# names of people are not shown, and nobody is other as well
{"thread": [{"speaker": "Ann Secret", "text": "hello there"}, {"speaker": "wizard", "text": "good day"},
  {"speaker": "constructor", "text": "good night"}, {"speaker": "user", "text": "I am one"},
  {"text": "said by nobody"}]}
= {"wizard":1,"other":3}
# a system that answers is counted, since it is judged as another
{"turns": [{"speaker": "USER", "utterance": "A table for two."}, {"speaker": "SYSTEM",
  "utterance": "Where?"}]}
= {"system":1}
# a turn that is left out is not counted, and what is attached has none
{"messages": [{"role": "tool", "content": [{"type": "image_url",
  "image_url": {"url": "https://images.invalid/a"}}]}, {"role": "function",
  "content": "what the function says"}]}
= {"function":1}
= null
`);

describe('the roles that turns have in their record (C-211)', () => {
  const folder = testFolder();

  const items = (record: unknown, overrides: Partial<SourceConfig> = {}) =>
    readItems([corpus(folder.jsonl(record), overrides)]);

  test.each(CASES)('%s', async (_, record, roles) => {
    expect((await items(record)).map((item) => JSON.stringify(item.roles))).toEqual(roles);
  });

  test('of every turn, those up to it', async () => {
    const roles = ['user', 'tool', 'system', 'function', 'x', 'tool'];
    const messages = roles.map((role) => ({ role, content: `what the ${role} says` }));
    const found = await items({ messages }, { audit: 'every-turn' });
    expect(found.map((item) => [item.id, item.settled?.error?.code ?? null, item.roles])).toEqual([
      ['a.jsonl#1#1', null, null],
      ['a.jsonl#1#2', null, { tool: 1 }],
      ['a.jsonl#1#4', null, { tool: 1, function: 1 }],
      ['a.jsonl#1#5', 'INVALID_ROLE', { tool: 1, function: 1 }],
      ['a.jsonl#1#6', 'INVALID_ROLE', { tool: 2, function: 1 }],
    ]);
  });
});
