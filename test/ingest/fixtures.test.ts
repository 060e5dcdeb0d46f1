import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { SourceConfig } from '../../src/config/run-config.ts';
import { contentSha256 } from '../../src/domain/content-hash.ts';
import type { Item } from '../../src/domain/item.ts';
import { corpus, readItems } from './read-items.ts';

/**
 * A file in `inputs` and its items in `expected`: dropping both there makes a test. `config` overrides how the file is
 * read, `limits` how large an item may be.
 */
interface Expected {
  readonly config?: Partial<SourceConfig>;
  readonly limits?: { readonly itemBytes: number };
  readonly items: readonly unknown[];
}

const folder = fileURLToPath(new URL('../fixtures/corpora/', import.meta.url));

/** An item as the expectations write it: what follows from the rest is left out. */
function compact(item: Item): unknown {
  const { row, line } = item.source;
  const optional = {
    ...(row === null ? {} : { row, line }),
    ...(item.roles === null ? {} : { roles: item.roles }),
    ...(item.part === null ? {} : { part: item.part }),
    ...(item.turn === null ? {} : { turn: item.turn }),
  };
  const { id, request, settled } = item;
  if (settled !== null) {
    const { requestType, modality } = item;
    return { id, ...optional, requestType, modality, error: settled.error?.code };
  }
  const asked = Object.entries(request).filter(([name]) => name !== 'modality');
  return { id, ...optional, ...Object.fromEntries(asked) };
}

describe('the items of', () => {
  for (const name of readdirSync(`${folder}inputs`)) {
    const expected = JSON.parse(readFileSync(`${folder}expected/${name}.json`, 'utf8')) as Expected;

    test(name, async () => {
      const items = await readItems([corpus(`${folder}inputs/${name}`, expected.config)], expected.limits);
      expect(items.map(compact)).toEqual(expected.items);
      expect(items.map(({ seq }) => seq)).toEqual(items.map((_, index) => index));
      const places = items.map(({ source, part, turn }) => `${source.row} ${part} ${turn}`);
      expect(new Set(places).size).toBe(items.length);
      for (const item of items) {
        expect(item.source.path).toBe(name);
        expect(item.contentSha256).toBe(item.request === null ? null : contentSha256(item.request));
      }
    });
  }
});
