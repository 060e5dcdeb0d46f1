import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CATEGORIES } from '../../src/domain/taxonomy.ts';
import { OUTPUTS, OVERALL } from '../../src/guard-server/lite/weights-file.ts';
import { projectFolder } from '../project-folder.ts';
import { seededRandom, type Random } from '../random.ts';
import type { LabelledText } from './corpus.ts';

/** `source` of the texts made here. */
export const PLAIN_TEXTS = 'plain-texts';

/** Max texts of a template. */
const TEXTS_OF_HAZARD = 60;
const TEXTS_OF_BENIGN = 40;

const SEED = 20261123;
const CHOICE = /\{([^{}]*)\}/g;

type Templates = Readonly<Record<string, Readonly<Record<string, readonly string[]>> | readonly string[]>>;

/**
 * Short plain violations and their harmless look-alikes, which the public sources hardly have, from our own templates:
 * `{a|b}` is a choice, `{name}` one from the list of that name. `benign fr` are harmless ones in a language with few others. The same texts every time; those of one template are a
 * group.
 */
export async function plainTexts(): Promise<LabelledText[]> {
  const file = join(projectFolder(), 'training/plain/templates.json');
  const { lists, ...byLabel } = JSON.parse(await readFile(file, 'utf8')) as Templates;
  const random = seededRandom(SEED);
  return Object.entries(byLabel).flatMap(([label, templates]) =>
    (templates as readonly string[]).flatMap((template, index) => {
      const texts = new Set<string>();
      const [, language = null] = /^benign(?: (\w+))?$/.exec(label) ?? [];
      const count = label.startsWith('benign') ? TEXTS_OF_BENIGN : TEXTS_OF_HAZARD;
      for (let attempt = 0; attempt < count; attempt++) {
        texts.add(expand(template, lists as Readonly<Record<string, readonly string[]>>, random));
      }
      const targets = targetsOf(label);
      const group = `${label} ${index}`;
      return [...texts].map((text) => ({
        text,
        source: PLAIN_TEXTS,
        language: language ?? 'en',
        targets,
        group,
      }));
    }),
  );
}

function expand(
  template: string,
  lists: Readonly<Record<string, readonly string[]>>,
  random: Random,
): string {
  return template
    .replace(CHOICE, (_, choice: string) => {
      const options = lists[choice] ?? choice.split('|');
      return options[Math.floor(random() * options.length)]!;
    })
    .replace(/\s+/g, ' ')
    .replace(/ ([,.!?])/g, '$1')
    .trim();
}

function targetsOf(label: string): Float32Array {
  const targets = new Float32Array(OUTPUTS);
  const category = CATEGORIES.find((candidate) => candidate.label === label);
  if (category === undefined) return targets;
  targets[category.index] = 1;
  targets[OVERALL] = 1;
  return targets;
}
