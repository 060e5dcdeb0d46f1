import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { FileSettings } from '../../src/config/run-config.ts';
import { folderWith } from '../helpers/cli.ts';
import { corpusAt } from '../helpers/run-config.ts';
import { corpus, readItems } from '../ingest/read-items.ts';

const table = (text: string): string =>
  `id;Notiz;Kommentartext\n${[0, 1, 2].map((at) => `${at};${text} note ${at} as such;${text} text ${at} as such\n`).join('')}`;

/** Settings for files; what they leave open is recognised. */
function settingsFor(files: string, settings: Partial<FileSettings>): FileSettings {
  const { textColumns, idColumn, audit, asStream, encoding, layout, header } = corpusAt('');
  return { textColumns, idColumn, audit, asStream, encoding, layout, header, ...settings, files };
}

it('files are read by the last settings whose glob matches: a name in any folder, or a path', async () => {
  const folder = await folderWith({
    ...{ 'in/a.csv': table('a'), 'in/b.de.csv': table('b'), 'in/deep/.c.de.csv': table('c') },
  });
  const source = corpus(join(folder, 'in'), {
    textColumns: ['id'],
    for: [
      settingsFor('*.de.csv', { textColumns: ['Kommentartext'] }),
      settingsFor('deep/**', { textColumns: ['Notiz'] }),
      settingsFor('b.*', { layout: 'text' }),
      settingsFor('*.de.csv/x', { textColumns: ['id'] }),
    ],
  });
  const items = (await readItems([source])).filter(({ source: { row } }) => row === 1 || row === null);
  const texts = items.map(({ request }) => request !== null && 'text' in request && request.text);
  expect(texts).toEqual(['0', table('b'), 'c note 0 as such']);
});
