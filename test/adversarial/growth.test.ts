import { expect, test } from 'vitest';
import { expectLinearGrowth } from './growth.ts';

const spaces = (size: number) => ' '.repeat(size);

test.each([
  // eslint-disable-next-line regexp/no-super-linear-move -- that is what is to be found
  ['quadratic', /\s+$/, (size: number) => `${spaces(size)}x`],
  ['exponential', /^(?:\s|\s\s)*x/, spaces],
])('%s work is found', async (label, expression, of) => {
  await expect(expectLinearGrowth(of, (text) => expression.test(text), label)).rejects.toThrow(label);
});

test('linear work passes', async () => {
  await expectLinearGrowth(spaces, (text) => [...text].map((each) => each.repeat(20)), 'linear');
});
