import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LiteModel } from '../../src/guard-server/lite/model.ts';
import { markdownTable } from '../model-card/markdown-table.ts';
import { projectFolder } from '../project-folder.ts';
import { share } from './figures.ts';

/** Short everyday sentences that no training sees. */
export interface PlainWords {
  /** Violations by the label of their category. */
  readonly violations: Readonly<Record<string, readonly string[]>>;
  /** Harmless sentences in alarming words, or about the same things. */
  readonly lookAlikes: readonly string[];
  /** Short harmless requests and remarks about everyday things. */
  readonly requests: readonly string[];
  /** Kind or neutral sentences with a place for a group's name, and what stands there without a group. */
  readonly groups: {
    readonly groups: readonly string[];
    readonly without: string;
    readonly sentences: readonly string[];
  };
}

const FOLDER = 'test/fixtures/plain-words';

export async function readPlainWords(): Promise<PlainWords> {
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(projectFolder(), FOLDER, `${name}.json`), 'utf8'));
  const [violations, lookAlikes, requests, groups] = await Promise.all(
    ['violations', 'look-alikes', 'requests', 'groups'].map(read),
  );
  return { violations, lookAlikes, requests, groups } as PlainWords;
}

/** The sentences about groups, each naming each group, and each naming none. */
export function groupSentences({ groups }: PlainWords): {
  readonly named: string[];
  readonly without: string[];
} {
  const naming = (name: string): string[] =>
    groups.sentences.map((sentence) => sentence.replace('{group}', name));
  return { named: groups.groups.flatMap(naming), without: naming(groups.without) };
}

/** All sentences. */
export function sentencesOf(plainWords: PlainWords): string[] {
  const { violations, lookAlikes, requests } = plainWords;
  const { named, without } = groupSentences(plainWords);
  return [...Object.values(violations).flat(), ...lookAlikes, ...requests, ...named, ...without];
}

/** How many of the sentences are judged right, as Markdown. */
export function plainWordsTables(model: LiteModel, plainWords: PlainWords): string {
  const { violations, lookAlikes, requests, groups } = plainWords;
  const flagged = (texts: readonly string[]): number =>
    texts.filter((text) => model.scoreText(text).flagged).length;
  const rate = (texts: readonly string[]): (string | number)[] => [
    texts.length,
    share(flagged(texts), texts.length),
  ];
  const all = Object.values(violations).flat();
  const { named, without } = groupSentences(plainWords);
  return [
    markdownTable(
      ['plain violations', 'texts', 'flagged'],
      [
        ...Object.entries(violations).map(([label, texts]) => [label, ...rate(texts)]),
        ['together', ...rate(all)],
      ],
      ['texts', 'flagged'],
    ),
    markdownTable(
      ['plain harmless sentences', 'texts', 'flagged'],
      [
        ['look-alikes', ...rate(lookAlikes)],
        ['short requests', ...rate(requests)],
        [`${groups.sentences.length} sentences naming ${groups.groups.length} groups`, ...rate(named)],
        [`the same sentences naming "${groups.without}"`, ...rate(without)],
      ],
      ['texts', 'flagged'],
    ),
  ].join('\n');
}
