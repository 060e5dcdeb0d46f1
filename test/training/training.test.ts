import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FeatureExtractor } from '../../src/guard-server/lite/features.ts';
import { LiteNetwork } from '../../src/guard-server/lite/network.ts';
import { readCorpus, type LabelledText } from '../../training/corpora/corpus.ts';
import { assignFolds } from '../../training/fit/folds.ts';
import { quantise } from '../../training/fit/quantise.ts';
import { seededRandom } from '../../training/random.ts';
import { trainNetwork } from '../../training/fit/trainer.ts';
import { vocabularyOf } from '../../training/fit/vocabulary-of.ts';
import { OUTPUTS, OVERALL, decodeWeights, encodeWeights } from '../../src/guard-server/lite/weights-file.ts';
import { sharedFolder } from '../helpers/cli.ts';

const SEED = 7;
const HATE = 7;

const folder = sharedFolder();

function row(text: string, ...outputs: number[]): LabelledText {
  const targets = new Float32Array(OUTPUTS);
  for (const output of outputs) targets[output] = 1;
  return { text, source: 'made-up', language: 'en', targets };
}

const labelled = (text: string, ...labels: string[]) =>
  JSON.stringify({ text, labels, source: 's', lang: 'en' });

function writeCorpus(...lines: string[]): void {
  writeFileSync(join(folder, 'train.jsonl.gz'), gzipSync(lines.join('\n')));
}

describe('training', () => {
  const rows = ['apple', 'river', 'candle', 'garden', 'window'].flatMap((word) => [
    row(`the ${word} is lovely`),
    row(`the ${word} is loathsome`, HATE, OVERALL),
  ]);
  const vocabulary = vocabularyOf(rows);
  const trained = () => ({
    ...quantise(trainNetwork(rows, new FeatureExtractor(vocabulary), seededRandom(SEED))),
    vocabulary,
  });

  it('learns what tells the classes apart, and gives the same bytes when run again', () => {
    const weights = trained();
    expect(encodeWeights(trained()).equals(encodeWeights(weights))).toBe(true);

    const network = new LiteNetwork(decodeWeights(encodeWeights(weights)));
    const lovely = network.logits('the mountain is lovely');
    const loathsome = network.logits('the mountain is loathsome');
    expect(loathsome[OVERALL]).toBeGreaterThan(lovely[OVERALL]!);
    expect(loathsome[HATE]).toBeGreaterThan(lovely[HATE]!);
    expect(loathsome[HATE]).toBeGreaterThan(loathsome[0]!);
  });

  it('puts texts that share a passage into one fold', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'abcdefghij'), minLength: 3, maxLength: 8 });
    fc.assert(
      fc.property(
        fc.array(letters, { minLength: 4, maxLength: 4 }),
        fc.uniqueArray(letters, { maxLength: 6, minLength: 2 }),
        (shared, own) => {
          const texts = own.map((word) => row(`${word} ${shared.join(' ')} ${word}`));
          expect(new Set(assignFolds(texts, 4, seededRandom(SEED))).size).toBe(1);
        },
      ),
      { numRuns: 50 },
    );
    const unrelated = Array.from({ length: 100 }, (_, index) =>
      row(`${index} word${index} only${index} here${index}`),
    );
    expect(new Set(assignFolds(unrelated, 4, seededRandom(SEED))).size).toBe(4);
    const grouped = unrelated.map((text) => ({ ...text, group: 'one template' }));
    expect(new Set(assignFolds(grouped, 4, seededRandom(SEED))).size).toBe(1);
  });
});

describe('reading the corpora', () => {
  it('turns labels into targets: categories, hazards of no category, benign', async () => {
    writeCorpus(labelled('a', 'Hate', 'Privacy'), labelled('b', 'unspecified'), labelled('c', 'benign'), '');
    const targets = (await readCorpus(folder, 'train')).map((read) =>
      [...read.targets].flatMap((target, output) => (target === 1 ? [output] : [])),
    );
    expect(targets).toEqual([[HATE, 8, OVERALL], [OVERALL], []]);
  });

  it.each([
    ['is not JSON', 'secret words'],
    ['has no labels', '{"text":"secret words","source":"s","lang":"en"}'],
    ['has an unknown label', '{"text":"secret words","labels":["nice"],"source":"s","lang":"en"}'],
  ])('names the line that %s, and does not quote it', async (_, line) => {
    writeCorpus(labelled('a', 'benign'), line);
    const error: unknown = await readCorpus(folder, 'train').catch((caught: unknown) => caught);
    const message: unknown = expect.stringContaining('train.jsonl.gz:2');
    expect(error).toMatchObject({ kind: 'usage', message });
    expect(String(error)).not.toContain('secret');
  });
});
