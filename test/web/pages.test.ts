import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { RunProgress } from '../../src/dashboard/api/runs.ts';
import { doneShare, paceWords, progressWords } from '../../web/dashboard/runs/progress-words.ts';
import { formatCount, duration, percent } from '../../web/dashboard/ui/format.ts';
import { maskText, visibleText } from '../../web/dashboard/item/visible-text.ts';
import { formatRoute, parseRoute, RUN_TABS } from '../../web/dashboard/app/route.ts';

describe('numbers of the dashboard', () => {
  it.each([
    [0, 10, '0%'],
    [1, 100_000, '< 0.1%'],
    [99_999, 100_000, '> 99.9%'],
    [10, 10, '100%'],
    [1, 8, '12.5%'],
    [0, 0, '–'],
  ])('%i of %i are %s', (part, whole, words) => {
    expect(percent(part, whole)).toBe(words);
  });

  it.each([
    [0.2, '< 1 s'],
    [59.6, '1 min'],
    [75, '1 min 15 s'],
    [1500, '25 min'],
    [4021, '1 h 7 min'],
    [180_000, '2 d 2 h'],
  ])('%f seconds are %s', (seconds, words) => {
    expect(duration(seconds)).toBe(words);
  });

  it('have the right noun', () => {
    expect([formatCount(1, 'item'), formatCount(1234, 'item')]).toEqual(['1 item', '1,234 items']);
  });
});

describe('progress of a run', () => {
  const progress: RunProgress = {
    planned: 1000,
    plan_closed: true,
    judged: 998,
    review: 40,
    block: 2,
    errors: 1,
    by_category: {},
    items_per_second: 12.345,
    seconds_left: 1,
  };

  it('is never all before everything is done, and counts errors', () => {
    expect(progressWords({ progress })).toBe('99%, 999 of 1,000 items, 1 not judged');
    expect(paceWords({ state: 'running', progress })).toBe('12.3 items/s, about 1 s left');
    expect(paceWords({ state: 'paused', progress })).toBe('');
  });

  it('has no share as long as items may be found', () => {
    const open = { ...progress, plan_closed: false, errors: 0 };
    expect(doneShare(open)).toBeNull();
    expect(progressWords({ progress: open })).toBe('998 of 1,000 items found so far');
  });

  it('of a run without items is all', () => {
    const none = { ...progress, planned: 0, judged: 0, errors: 0 };
    expect(progressWords({ progress: none })).toBe('100%, 0 of 0 items');
  });
});

it.each([
  ['a change of direction', 'a\u202eb', 'a[U+202E]b'],
  ['a zero-width space', 'a\u200bb', 'a[U+200B]b'],
  ['a control character', 'a\u0007b\u009bc', 'a[U+0007]b[U+009B]c'],
  ['a carriage return within a line', 'a\rb', 'a[U+000D]b'],
  ['tag characters', 'a\u{e0041}b', 'a[U+E0041]b'],
])('writes out %s', (_, text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

it('leaves lines, tabs, other scripts and joined emoji as they are', () => {
  const text = 'one\ttwo\nשלום नमस्ते\u200c👩‍👩‍👧';
  expect(visibleText(text)).toBe(text);
  expect(visibleText('one\r\ntwo')).toBe('one\ntwo');
});

it('masks letters, digits and emoji, and leaves the shape', () => {
  expect(maskText('He said: "42 é", 😀!')).toBe('•• ••••: "•• •", •!');
});

describe('paths of the dashboard', () => {
  it('lead back to the page that they are made from, whatever the name of the run', () => {
    const name = fc.string({ minLength: 1, unit: 'grapheme' });
    fc.assert(
      fc.property(name, fc.constantFrom(...RUN_TABS), fc.nat(), (run, tab, seq) => {
        for (const route of [
          { page: 'run', run, tab },
          { page: 'item', run, seq },
        ] as const) {
          expect(parseRoute(formatRoute(route))).toEqual(route);
        }
      }),
    );
  });

  it.each([
    ...['/runs', '/runs/', '/runs/a/other', '/runs/a/items', '/runs/a/items/-1', '/runs/a/items/1e3'],
    ...['/runs/a/items/9999999999999999', '/runs/a/review/x', '/runs/a/items/1/x', '/runs/%E0%A4%A'],
    '/elsewhere',
  ])('other than those lead to no page: %s', (path) => {
    expect(parseRoute(path)).toEqual({ page: 'unknown' });
  });
});

const css = readFileSync(join(import.meta.dirname, '../../web/ui/tokens.css'), 'utf8');

/** Colours by name: in light, in dark. */
const COLOURS = new Map(
  [...css.matchAll(/^ {2}--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/gm)].map(
    ([, name, light, dark]) => [name!, [light!, dark!] as const],
  ),
);

/** Relative luminance as WCAG 2 defines it. */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const SOFT = ['accent', 'allow', 'review', 'block', 'unjudged'];
const SURFACES = ['page', 'surface', 'sunken', 'hover', ...SOFT.map((name) => `${name}-soft`)];
const TEXTS = ['text', 'muted', ...SOFT];

it.each([
  ['light', 0],
  ['dark', 1],
])('has texts of contrast 4.5 and controls of contrast 3 on every surface, in %s', (_, theme) => {
  const of = (name: string): string => COLOURS.get(name)![theme as 0 | 1];
  const low: string[] = [];
  const check = (front: string, back: string, least: number): void => {
    const found = contrast(of(front), of(back));
    if (found < least) low.push(`${front} on ${back}: ${found.toFixed(2)}`);
  };
  for (const surface of SURFACES) {
    for (const text of TEXTS) check(text, surface, 4.5);
    for (const control of ['border-strong', 'focus']) check(control, surface, 3);
  }
  check('on-accent', 'accent', 4.5);
  expect(low).toEqual([]);
});
