import { expect, it } from 'vitest';
import { column, messages, output, promptInputs } from '../../helpers/guards/guard-client.ts';
import { guardForTest, sharedGuard } from '../../helpers/guards/shared-guard.ts';

const { server, client } = await sharedGuard({ model: 'lite' });

it('names its artifacts for what they are (C-229)', async () => {
  expect(server.synthetic).toBeNull();
  const reply = await client.infer({ tensors: [column('REQUEST_TYPE', ['version'])] });
  const hashes = JSON.parse(output(reply, 'VERSION')[0] as string) as Record<string, string>;
  expect(Object.keys(hashes).length).toBeGreaterThan(0);
  for (const [name, hash] of Object.entries(hashes)) {
    expect(name).toMatch(/^lite-/);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
  }
});

it('judges every kind of request, each the same in any company (C-102)', async () => {
  const texts = ['A recipe for lentil soup.', 'How do I hurt my neighbour badly?', 'Ein Gruß aus Köln.'];
  const together = output(await client.infer({ tensors: promptInputs(texts) }), 'SCORE') as number[];
  for (const [index, text] of texts.entries()) {
    const alone = await client.infer({ tensors: promptInputs([text]) });
    expect(output(alone, 'SCORE')).toEqual([together[index]]);
  }
  for (const score of together) expect(score >= 0 && score <= 1).toBe(true);

  const response = await client.infer({
    tensors: [
      column('REQUEST_TYPE', ['response']),
      column('TEXT', [texts[0]!]),
      column('RESPONSE_TEXT', ['Here.']),
    ],
  });
  const conversation = await client.infer({
    tensors: [
      column('REQUEST_TYPE', ['multiturn']),
      messages([
        ['user', texts[0]!],
        ['assistant', 'Here.'],
      ]),
    ],
  });
  expect(output(response, 'SCORE')).toHaveLength(1);
  expect(output(conversation, 'SCORE')).toHaveLength(1);
});

it('answers the scores of all categories for every content if asked, and is then another guard (C-215)', async () => {
  const { client: all } = await guardForTest({ model: 'lite', allScores: true });
  const request = { tensors: promptInputs(['A recipe for lentil soup.']) };
  const scores = output(await all.infer(request), 'SUBCATEGORY_SCORES') as number[];
  expect(scores).toHaveLength(13);
  expect(scores.every((score) => score > 0 && score < 0.5)).toBe(true);
  expect(output(await all.infer(request), 'SUBCATEGORY_FLAGS')).toEqual(new Array(13).fill(false));
  expect(output(await client.infer(request), 'SUBCATEGORY_SCORES')).toEqual(new Array(13).fill(0));
  const version = { tensors: [column('REQUEST_TYPE', ['version'])] };
  expect(output(await all.infer(version), 'VERSION')[0]).toContain('"lite-outputs"');
  expect(output(await client.infer(version), 'VERSION')[0]).not.toContain('lite-outputs');
});
