import { expect, test } from 'vitest';
import { WorstPart } from '../../src/domain/worst-part.ts';

interface Part {
  readonly name?: string;
  readonly score: number;
  readonly flagged: boolean;
  readonly subcategoryFlags: readonly string[] | null;
}

function worstOf(...parts: readonly Part[]): Part | null {
  const worst = new WorstPart<Part>();
  for (const part of parts) worst.add(part);
  return worst.combined;
}

test('there is no worst part before the first, and a single part counts as it is', () => {
  expect(worstOf()).toBeNull();
  const only = { name: 'only', score: 0.2, flagged: false, subcategoryFlags: null };
  expect(worstOf(only)).toEqual(only);
});

test('the highest score counts, of equal scores the first', () => {
  const parts = [0.1, 0.9, 0.9, 0.3].map((score, at) => ({
    name: `part ${at}`,
    score,
    flagged: true,
    subcategoryFlags: null,
  }));
  const worst = new WorstPart<Part>();
  expect(parts.map((part) => worst.add(part))).toEqual([true, true, false, false]);
  expect(worst.combined).toEqual(parts[1]);
});

test('no flag is lost that the policy never lets pass, in whichever order the parts come', () => {
  const image = { score: 0.9, flagged: true, subcategoryFlags: ['sexual_content'] };
  const caption = {
    score: 0.7,
    flagged: true,
    subcategoryFlags: ['child_sexual_exploitation', 'hate', 'novel'],
  };
  const clean = { score: 0.1, flagged: false, subcategoryFlags: null };
  const both = { ...image, subcategoryFlags: ['sexual_content', 'child_sexual_exploitation', 'novel'] };
  expect(worstOf(image, caption)).toEqual(both);
  expect(worstOf(caption, image)).toEqual(both);
  expect(worstOf(clean, caption)).toEqual(caption);
  expect(worstOf(image, clean)).toEqual(image);
  expect(worstOf({ ...clean, score: 0.95 }, caption)).toMatchObject({ score: 0.95, flagged: true });
});

test('a flag of a part that is not flagged as a whole is kept, since it alone asks for a review', () => {
  const part = { score: 0.1, flagged: false, subcategoryFlags: ['hate'] };
  const worse = { score: 0.3, flagged: false, subcategoryFlags: null };
  const both = { score: 0.3, flagged: false, subcategoryFlags: ['hate'] };
  expect(worstOf(part, worse)).toEqual(both);
  expect(worstOf(worse, part)).toEqual(both);
});

test('a bounded number of unknown categories is kept by name, and every severe one', () => {
  const flagged = { score: 0.5, flagged: true };
  const unknown = Array.from({ length: 5000 }, (_, part) => ({
    ...flagged,
    subcategoryFlags: Array.from({ length: 64 }, (_, at) => `category ${part} ${at}`),
  }));
  const flags = worstOf({ ...flagged, score: 0.9, subcategoryFlags: ['hate', 'first'] }, ...unknown, {
    ...flagged,
    subcategoryFlags: ['child_sexual_exploitation', 'privacy'],
  })!.subcategoryFlags!;
  expect(flags.length).toBeLessThan(100);
  expect(flags).toEqual(
    expect.arrayContaining([
      'hate',
      'first',
      'category 0 0',
      'other_categories',
      'child_sexual_exploitation',
    ]),
  );
  expect(flags).not.toContain('privacy');
});
