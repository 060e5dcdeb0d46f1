import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FileSettings, SourceConfig } from '../../src/config/run-config.ts';
import type { Run } from '../../src/runs/create-run.ts';
import { prepareRun } from '../../src/runs/prepare-run.ts';
import { folderWith } from '../helpers/cli.ts';
import { outcomes } from '../helpers/run-directory.ts';
import { corpusAt, runConfig } from '../helpers/run-config.ts';
import { corpus, readItems } from '../ingest/read-items.ts';
import { go, judge, never } from './small-run.ts';

const rows = (text: string): string =>
  Array.from({ length: 20 }, (_, at) => `${at};${text} note ${at} as such;${text} text ${at} as such\n`).join(
    '',
  );

let folder: string;
beforeEach(async () => {
  folder = await folderWith({
    'in/a.csv': `id;Notiz;Kommentartext\n${rows('a')}`,
    'in/b.de.csv': `id;Notiz;Kommentartext\n${rows('b')}`,
    'in/deep/.c.de.csv': `id;Notiz;Kommentartext\n${rows('c')}`,
    'in/deep/d.txt': Buffer.from('Stra\xdfe', 'latin1').toString('latin1'),
  });
});

/** A source with settings for files; what these leave open is recognised. */
function source(settings: readonly Partial<FileSettings>[], more: Partial<SourceConfig> = {}): SourceConfig {
  const { textColumns, idColumn, audit, asStream, encoding, layout, header } = corpusAt('');
  const open = { textColumns, idColumn, audit, asStream, encoding, layout, header };
  return corpus(join(folder, 'in'), {
    for: settings.map((each) => ({ files: '*', ...open, ...each })),
    ...more,
  });
}

/** The texts of the first rows of each file. */
async function firstTexts(config: SourceConfig): Promise<unknown> {
  const items = (await readItems([config])).filter(({ source: { row } }) => row === 1 || row === null);
  return Object.fromEntries(
    items.map(({ source: { path }, request }) => [
      path,
      request !== null && 'text' in request && request.text,
    ]),
  );
}

describe('settings for files that match a glob', () => {
  it('are those by which they are read: names in any folder, paths, and the last that matches', async () => {
    expect(
      await firstTexts(
        source(
          [
            { files: '*.de.csv', textColumns: ['Kommentartext'] },
            { files: 'deep/**', textColumns: ['Notiz'] },
            { files: 'b.*', layout: 'text' },
            { files: '*.de.csv/x', textColumns: ['id'] },
          ],
          { textColumns: ['id'] },
        ),
      ),
    ).toMatchObject({
      'in/a.csv': '0',
      'in/b.de.csv': `id;Notiz;Kommentartext\n${rows('b')}`,
      'in/deep/.c.de.csv': 'c note 0 as such',
    });
  });

  it('are frozen with the files, so that a resumed run needs nothing again', async () => {
    const config = source([{ files: '*.de.csv', textColumns: ['Kommentartext'] }], {
      textColumns: ['Notiz'],
    });
    const run: { made?: Run } = {};
    const limits = { ...runConfig('', []).limits, shardItems: 10 };
    const create = await prepareRun(runConfig(join(folder, 'runs'), [config], { limits }), {
      ...{ keyFile: null, drain: never },
      report: (event) => void (event.kind === 'created' && (run.made = event.run)),
    });
    await create();
    const frozen = (await readFile(join(run.made!.dir, 'sources.jsonl'), 'utf8')).trim().split('\n');
    expect(frozen.map((line) => (JSON.parse(line) as { settings?: number }).settings)).toEqual([
      undefined,
      0,
      0,
      undefined,
    ]);
    await expect(go(run.made!, judge({ answers: 25 }))).rejects.toThrow('the guard went away');
    const asked: string[] = [];
    await go(run.made!, judge({ refuse: (request) => (asked.push(JSON.stringify(request)), null) }));
    expect(asked.filter((text) => text.includes('b note') || text.includes('c note'))).toEqual([]);
    expect(asked.filter((text) => text.includes('c text'))).toHaveLength(20);
    expect(await outcomes(run.made!.dir)).toHaveLength(61);
  });
});
