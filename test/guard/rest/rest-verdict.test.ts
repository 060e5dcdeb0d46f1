import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CATEGORIES } from '../../../src/domain/taxonomy.ts';
import { categoryBySpelling } from '../../../src/domain/words/category-spelling.ts';
import { decodeVerdict } from '../../../src/guard/rest/rest-verdict.ts';

const FLAGS = { hate: true, privacy: false };
const VERDICT = { flagged: true, score: 0.9, subcategory_flags: FLAGS, latency_ms: 20 };

const said = (text: string) => decodeVerdict(Buffer.from(text));
const decode = (changes: object) => said(JSON.stringify({ ...VERDICT, ...changes }));

const MANY = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`category ${at}`, true]));

test('a verdict over REST has flags, but no scores of categories (C-218)', () => {
  expect(decode({ more: 'fields' })).toEqual({
    score: 0.9,
    flagged: true,
    subcategoryScores: null,
    subcategoryFlags: ['hate'],
    cacheUsage: null,
  });
});

test('flags are null where the guard returned none, and empty where it set none (C-219)', () => {
  expect(decode({ subcategory_flags: {} })!.subcategoryFlags).toBeNull();
  expect(decode({ subcategory_flags: { hate: false } })!.subcategoryFlags).toEqual([]);
  expect(decode({ flagged: false, subcategory_flags: { hate: false } })!.subcategoryFlags).toBeNull();
});

test('a flag that is set counts, known or not, even if the content is not flagged', () => {
  const flags = { 'Something New': true, violentCrimes: true, violent_crimes: true, x: false };
  const answer = decode({ flagged: false, subcategory_flags: flags })!;
  expect(answer.subcategoryFlags).toEqual(['violent_crimes', 'Something New']);
});

test.each([
  ['a score above one', { score: 1.01 }],
  ['a score that is a string', { score: '0.5' }],
  ['flagged that is a number', { flagged: 1 }],
  ['flags that are a list', { subcategory_flags: ['hate'] }],
  ['flags that are probabilities', { subcategory_flags: { hate: 0.9 } }],
  ['a key longer than any name', { subcategory_flags: { ['x'.repeat(101)]: true } }],
  ['more keys than any taxonomy has', { subcategory_flags: MANY }],
])('%s is no verdict', (_, changes) => {
  expect(decode(changes)).toBeNull();
});

test('a reply with a key that does not look like a name, set or not, is not a verdict', () => {
  const names = ['Hate', 'hate/threatening', 'Weapons (Chemical)', "children's safety", 'v2.x', '仇恨言论'];
  for (const name of names) expect(decode({ subcategory_flags: { [name]: true } })).not.toBeNull();
  const odd = ['', ' hate', 'hate  speech', '_hate', '=1+1', 'a\nJudged 9', 'a\u001b[2J', 'a\u202eb', 'a<b>'];
  for (const name of odd) {
    for (const isSet of [true, false]) {
      expect(decode({ subcategory_flags: { hate: true, [name]: isSet } })).toBeNull();
    }
  }
});

test('a key that objects inherit is not lost', () => {
  const body = JSON.stringify({ ...VERDICT, subcategory_flags: 'flags' });
  expect(said(body.replace('"flags"', '{"__proto__":true}'))).toBeNull();
  expect(decode({ subcategory_flags: { constructor: true } })!.subcategoryFlags).toEqual(['constructor']);
});

test('any body is either a verdict within its bounds or rejected', () => {
  for (const body of ['', 'null', '[]', '"x"', '<html>', '{"flagged":true', '{"score":1e999}']) {
    expect(said(body)).toBeNull();
  }
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const answer = said(JSON.stringify(value));
      expect(answer === null || (answer.score >= 0 && answer.score <= 1)).toBe(true);
    }),
  );
});

test('every category is known in any usual spelling, and nothing else is (C-220)', () => {
  for (const { key, label } of CATEGORIES) {
    const camel = key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    for (const name of [key, label, camel, key.toUpperCase(), key.replaceAll('_', '-')]) {
      expect(categoryBySpelling(name)).toBe(key);
    }
  }
  expect(categoryBySpelling('Suicide and Self-Harm')).toBe('suicide_self_harm');
  expect(categoryBySpelling('indiscriminate_weapons_cbrne')).toBe('indiscriminate_weapons');
  for (const name of ['', 'hate speech', 'S1', 'hate2']) expect(categoryBySpelling(name)).toBeNull();
});

const OF_CHILDREN =
  'S4|s4: Child Sexual Exploitation|sexual/minors|CSAM|childSexualAbuse|Child Exploitation'.split('|');
test.each(OF_CHILDREN)('a verdict that flags %s is restricted, whatever the policy says', (name) => {
  const { subcategoryFlags } = decode({ subcategory_flags: { [name]: true } })!;
  expect(subcategoryFlags).toEqual(['child_sexual_exploitation']);
});

test('a verdict that says a thing twice is none', () => {
  const rest = '"score": 0.9, "subcategory_flags": {"a:b": true}, "latency_ms": 1}';
  expect(said(`{"flagged": true, ${rest}`)).not.toBeNull();
  expect(said(`{"flagged": true, "flagged": false, ${rest}`)).toBeNull();
  expect(said(`{"flagged": true, "flag\\u0067ed": false, ${rest}`)).toBeNull();
});
