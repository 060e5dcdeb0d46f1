import { expect, it } from 'vitest';
import { CATEGORIES } from '../../src/domain/taxonomy.ts';

it('each category has the index that the contract gives it (C-220)', () => {
  expect(CATEGORIES.map(({ index, label }) => `${index} ${label}`)).toEqual([
    ...['0 Violent Crimes', '1 Non-Violent Crimes', '2 Sex-Related Crimes', '3 Child Sexual Exploitation'],
    ...['4 Defamation', '5 Specialized Advice', '6 Indiscriminate Weapons (CBRNE)', '7 Hate', '8 Privacy'],
    ...['9 Intellectual Property', '10 Sexual Content', '11 Suicide & Self-Harm', '12 Cybersecurity'],
  ]);
});

it('each category is in the group that the contract gives it (C-221)', () => {
  const indices = (name: string) =>
    CATEGORIES.filter(({ group }) => group === name).map(({ index }) => index);
  expect(indices('physical')).toEqual([0, 2, 3, 6, 11]);
  expect(indices('non-physical')).toEqual([1, 4, 7, 8, 9]);
  expect(indices('contextual')).toEqual([5, 10, 12]);
});
