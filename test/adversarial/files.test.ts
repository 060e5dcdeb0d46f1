import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SourceConfig } from '../../src/config/run-config.ts';
import { expandSources } from '../../src/ingest/discover/expand.ts';
import { inspectSources } from '../../src/ingest/recognise/inspect.ts';
import { sharedFolder } from '../helpers/cli.ts';
import { corpus, itemsOf, NEVER } from '../ingest/read-items.ts';
import { expectLinearGrowth, FEW_SIZES } from './growth.ts';
import { SEED, textPumps } from './pumps.ts';

const ITEM_BYTES = 16 * 1024 * 1024;

/** Files by name, and what is said of them. */
const FILES: readonly (readonly [name: string, said: Partial<SourceConfig>])[] = [
  ['a.csv', {}],
  ['b.csv', { layout: 'csv', header: 'yes' }],
  ['a.jsonl', {}],
  ['b.jsonl', { audit: 'every-turn' }],
  ['a.json', {}],
  ['a.txt', {}],
  ['b.txt', { encoding: 'utf-16le' }],
  ['a.html', {}],
  ['a', {}],
];

const folder = sharedFolder();

describe(`of seed ${SEED}`, () => {
  const pumps = textPumps(SEED, 20);

  test.each(FILES)('a file %s is read in linear time', async (name, said) => {
    const path = join(folder, name);
    const configs = [corpus(path, said)];
    let items = 0;
    const read = async (text: string): Promise<void> => {
      await writeFile(path, text);
      const { sources } = await expandSources(configs, NEVER);
      await inspectSources(sources, configs, ITEM_BYTES, NEVER);
      items += (await itemsOf(sources, configs)).length;
    };
    // Each page is read by a process of its own: only what marks it up is tried.
    const tried = name === 'a.html' ? pumps.filter((pump) => /[<&]/.test(pump.name)) : pumps;
    for (const { name: made, of } of tried) await expectLinearGrowth(of, read, `${name}, ${made}`, FEW_SIZES);
    expect(items).toBeGreaterThan(0);
  });
});
