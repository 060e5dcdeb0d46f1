import { expect, it } from 'vitest';
import { plural } from '../../../src/domain/text/plural.ts';

it.each([
  [0, 'files'],
  [1, 'file'],
  [2, 'files'],
])('%i %s', (count, noun) => expect(plural(count, 'file')).toBe(noun));

it('takes a plural of its own', () => expect(plural(2, 'is', 'are')).toBe('are'));
