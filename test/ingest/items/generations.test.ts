import { describe, expect, it } from 'vitest';
import type { Replay } from '../../../src/config/run-config.ts';
import { corpus, readItems, testFolder } from '../read-items.ts';

const REPLAY: Replay = { chunkChars: 8, cadenceChunks: 2 };

const folder = testFolder();

const itemsOf = (records: readonly unknown[], asStream: Replay | null) =>
  readItems([corpus(folder.jsonl(...records), { asStream })]);

/** What an item asks: prompt and chunks, or its code and its reason. */
async function replayed(...records: unknown[]): Promise<unknown[]> {
  const items = await itemsOf(records, REPLAY);
  return items.map(({ request, settled }) => {
    if (request === null) return settled.error?.reason ?? settled.error?.code;
    if (request.requestType !== 'generation') throw new Error(`a ${request.requestType} is no generation`);
    expect(request.cadenceChunks).toBe(2);
    return [request.prompt, ...request.chunks];
  });
}

describe('generations that are replayed', () => {
  it('have the chunks they were recorded in', async () => {
    const recorded = { prompt: 'How?', chunks: ['', 'Take a spoon ', 'and stir.'] };
    const both = { ...recorded, response: 'Take a spoon and stir.' };
    const generation = ['How?', 'Take a spoon ', 'and stir.'];
    expect(await replayed(recorded, both)).toEqual([generation, generation]);
  });

  it('are cut where only the response was recorded', async () => {
    const record = { instruction: 'How?', input: 'With milk.', output: 'Take a spoon and stir.' };
    expect(await replayed(record)).toEqual([['How?\n\nWith milk.', 'Take a s', 'poon and', ' stir.']]);
  });

  it('are the final turns of conversations, with the turns before as the prompt', async () => {
    const turns = { system: 'Be brief.', user: 'How?', assistant: 'Stir it.' };
    const messages = Object.entries(turns).map(([role, content]) => ({ role, content }));
    expect(await replayed({ messages })).toEqual([['Be brief.\n\nHow?', 'Stir it.']]);
    expect(await replayed({ messages: messages.slice(0, 2) })).toEqual(['no_generation']);
    expect(await replayed({ messages: messages.slice(2) })).toEqual(['no_generation']);
  });

  it('are missed one by one where a record holds none', async () => {
    const silent = { prompt: 'How?', chunks: ['', ' '] };
    const records = [{ text: 'A text on its own.' }, { prompt: ' ', chunks: ['No prompt.'] }, silent];
    const outcomes = ['no_generation', 'no_generation', 'EMPTY_CONTENT', ['How?', '5']];
    expect(await replayed(...records, { prompt: 'How?', response: 5 })).toEqual(outcomes);
  });
});

it('without a replay, recorded chunks are one response', async () => {
  const pair = { prompt: 'How?', response: 'Stir it.' };
  const [joined, whole] = await itemsOf([{ prompt: 'How?', chunks: ['Stir', '', ' it.'] }, pair], null);
  expect(joined!.request).toEqual({ requestType: 'response', modality: 'text', ...pair });
  expect(joined!.contentSha256).toBe(whole!.contentSha256);
});
