import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRoute, parseRoute, RUN_TABS, type Route } from '../../web/dashboard/app/route.ts';

describe('paths of the dashboard', () => {
  it('are those of its pages', () => {
    const run = '20261122T160000Z-uploads-ab12';
    const routes: readonly (readonly [Route, string])[] = [
      [{ page: 'runs' }, '/'],
      [{ page: 'login' }, '/login'],
      [{ page: 'run', run, tab: 'overview' }, `/runs/${run}`],
      [{ page: 'run', run, tab: 'review' }, `/runs/${run}/review`],
      [{ page: 'item', run, seq: 42 }, `/runs/${run}/items/42`],
    ];
    for (const [route, path] of routes) {
      expect(formatRoute(route)).toBe(path);
      expect(parseRoute(path)).toEqual(route);
    }
  });

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
    '/runs',
    '/runs/',
    '/runs/a/other',
    '/runs/a/items',
    '/runs/a/items/-1',
    '/runs/a/items/1e3',
    '/runs/a/items/9999999999999999',
    '/runs/a/review/x',
    '/runs/a/items/1/x',
    '/runs/%E0%A4%A',
    '/elsewhere',
  ])('other than those lead to no page: %s', (path) => {
    expect(parseRoute(path)).toEqual({ page: 'unknown' });
  });
});
