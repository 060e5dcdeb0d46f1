import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

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
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [
    number,
    number,
    number,
  ];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const SURFACES = ['page', 'surface', 'sunken', 'hover', 'accent-soft', 'allow-soft', 'review-soft'].concat([
  'block-soft',
  'unjudged-soft',
]);
const TEXTS = ['text', 'muted', 'accent', 'allow', 'review', 'block', 'unjudged'];

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
