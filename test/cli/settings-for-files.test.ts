import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { RunConfig, FileSettings } from '../../src/config/run-config.ts';
import { folderWith } from '../helpers/cli.ts';
import { corpusAt } from '../helpers/run-config.ts';
import { corpus, readItems } from '../ingest/read-items.ts';
import { typed } from './terminal.ts';

const FILES = { 'uploads/a.csv': 'id,body\n1,some text\n' };

/** The sources that `enqueue` reads by its arguments, or its message if it refuses them. */
async function resolveSources(words: readonly string[], job = ''): Promise<RunConfig['sources'] | string> {
  const cwd = await folderWith({ ...FILES, 'job.yaml': job });
  let sources: RunConfig['sources'] = [];
  const enqueue = async (config: RunConfig): Promise<number> => {
    sources = config.sources;
    return 0;
  };
  const argv = ['enqueue', '--quiet', ...words];
  const { status, stderr } = await typed(argv, { runs: { enqueue }, context: { cwd } });
  return status === 0 ? sources : stderr.trim();
}

/** By glob, the settings that differ from those of the source. */
async function settings(words: readonly string[], job = ''): Promise<unknown> {
  const sources = await resolveSources(words, job);
  if (typeof sources === 'string') return sources;
  return sources.map(({ given, for: all = [], ...own }) => [
    given,
    ...all.map(({ files, ...each }) => {
      const isOwn = (key: string) =>
        isDeepStrictEqual(each[key as keyof typeof each], own[key as keyof typeof own]);
      return [files, Object.fromEntries(Object.entries(each).filter(([key]) => !isOwn(key)))];
    }),
  ]);
}

describe('settings for files that match a glob', () => {
  it('are the flags behind --for, wherever the paths are', async () => {
    const before = ['--encoding', 'latin1', '--text-column', 'body'];
    const german = '--for *.de.csv --text-column Betreff --text-column Text --header yes'.split(' ');
    const streams = ['--for', 'logs/**', '--encoding', 'utf-8', '--layout', 'text'];
    const expected = [
      'uploads',
      ['*.de.csv', { textColumns: ['Betreff', 'Text'], header: 'yes' }],
      ['logs/**', { encoding: 'utf-8', layout: 'text' }],
    ];
    expect(await settings(['uploads', ...before, ...german, ...streams])).toEqual([expected]);
    expect(await settings([...before, ...german, 'uploads', ...streams])).toEqual([expected]);
    const [source] = (await resolveSources(['uploads', ...before, ...german])) as RunConfig['sources'];
    expect(source).toMatchObject({ textColumns: ['body'], encoding: 'latin1', header: null });
  });

  it('are those of a job file, then those of flags; a flag before --for wins over the file', async () => {
    const job = `sources:
  - path: uploads
    text: body
    for:
      - { files: '*.de.csv', text: Text, id: Nr }
      - { files: 'old/*', encoding: latin1, text: [a, b] }
  - path: uploads/a.csv
`;
    const german = ['*.de.csv', { textColumns: ['Text'], idColumn: 'Nr' }];
    const old = ['old/*', { encoding: 'latin1', textColumns: ['a', 'b'] }];
    const x = ['*.x', { header: 'no' }];
    expect(await settings(['job.yaml', '--for', '*.x', '--header', 'no'], job)).toEqual([
      ['uploads', german, old, x],
      ['uploads/a.csv', x],
    ]);
    expect(await settings(['job.yaml', '--id-column', 'key'], job)).toEqual([
      ['uploads', ['*.de.csv', { textColumns: ['Text'] }], old],
      ['uploads/a.csv'],
    ]);
  });

  it.each(
    Object.entries({
      ' --no-reuse': ' --no-reuse: this flag does not say how files are read; give it before the first --for',
      ' --layout text --id-column b': ' --id-column: layout text has no columns to choose from',
      '': ': names no setting for the files that it matches',
    }),
  )('are refused where they are mistaken: --for *.a%s', async (words, line) => {
    expect(await settings(`uploads --for *.a${words}`.split(' '))).toBe(`guardsweep: --for *.a${line}`);
  });

  it.each<[entry: string, line: string]>([
    [
      '{ files: a, out: b }',
      `job.yaml:4:21: "out" is not a known key of sources[0].for[0]; known: files, text, id, audit, asStream, streamCadence, encoding, layout, header`,
    ],
    ['{ files: a }', 'job.yaml:4:9: sources[0].for[0]: names no setting for the files that it matches'],
  ])('and so in a job file: %s', async (entry, line) => {
    const job = `sources:\n  - path: uploads\n    for:\n      - ${entry}\n`;
    expect(await settings(['job.yaml'], job)).toBe(`guardsweep: ${line}`);
  });
});

const table = (text: string): string =>
  `id;Notiz;Kommentartext\n${[0, 1, 2].map((at) => `${at};${text} note ${at} as such;${text} text ${at} as such\n`).join('')}`;

/** Settings for files; what they leave open is recognised. */
function settingsFor(files: string, settings: Partial<FileSettings>): FileSettings {
  const { textColumns, idColumn, audit, asStream, encoding, layout, header } = corpusAt('');
  return { textColumns, idColumn, audit, asStream, encoding, layout, header, ...settings, files };
}

it('files are read by the last settings whose glob matches: a name in any folder, or a path', async () => {
  const files = { 'in/a.csv': table('a'), 'in/b.de.csv': table('b'), 'in/deep/.c.de.csv': table('c') };
  const folder = await folderWith(files);
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
