import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { Failure } from '../../src/domain/failure.ts';
import { CATEGORIES } from '../../src/domain/taxonomy.ts';
import { OUTPUTS, OVERALL } from '../../src/guard-server/lite/weights-file.ts';
import { projectFolder } from '../project-folder.ts';

/** One labelled text. */
export interface LabelledText {
  readonly text: string;
  readonly source: string;
  /** ISO 639 code. */
  readonly language: string;
  /** Per output: 1 if it applies, otherwise 0. */
  readonly targets: Float32Array;
  /** Texts of a group are near-duplicates of each other, beside those that their words show. */
  readonly group?: string;
}

type CorpusFile = 'train' | 'dev' | 'extra' | 'unsafe_unspecified';

const rowShape = z.object({
  text: z.string(),
  labels: z.array(z.string()).min(1),
  source: z.string(),
  lang: z.string(),
});

/** Labels of harmless text, and of hazards outside the 13 categories. */
const BENIGN = 'benign';
const UNSPECIFIED = 'unspecified';

/**
 * The folder of the corpora: the first argument or TRAIN_CORPORA, relative to the user's folder (INIT_CWD under npm),
 * or shared/corpora next to the project.
 */
export function corporaFolder(): string {
  const named = process.argv[2] ?? process.env['TRAIN_CORPORA'];
  if (named !== undefined) return resolve(process.env['INIT_CWD'] ?? '.', named);
  return resolve(projectFolder(), '../shared/corpora');
}

/** One in this many texts of the additional prose is held back from training. */
const HELD_BACK = 10;

/** The additional prose: what is trained on, and what is held back. */
export async function readExtra(
  folder: string,
): Promise<{ readonly seen: LabelledText[]; readonly held: LabelledText[] }> {
  const rows = await readCorpus(folder, 'extra');
  return {
    seen: rows.filter((_, index) => index % HELD_BACK !== 0),
    held: rows.filter((_, index) => index % HELD_BACK === 0),
  };
}

/** Reads a corpus file. Failure('usage') when it is missing or malformed. */
export async function readCorpus(folder: string, file: CorpusFile): Promise<LabelledText[]> {
  const path = join(folder, `${file}.jsonl.gz`);
  let lines: string[];
  try {
    lines = gunzipSync(await readFile(path))
      .toString('utf8')
      .split('\n');
  } catch (cause) {
    throw new Failure(
      'usage',
      `cannot read ${path}: training and evaluation need the labelled corpora train.jsonl.gz, dev.jsonl.gz and ` +
        'unsafe_unspecified.jsonl.gz; name their folder as argument or in TRAIN_CORPORA. They are gathered from ' +
        'the public sources that docs/embedded-model.md lists and are not part of this repository',
      { cause },
    );
  }
  return lines.filter((line) => line !== '').map((line, index) => labelled(line, `${path}:${index + 1}`));
}

function labelled(line: string, place: string): LabelledText {
  let row: z.infer<typeof rowShape>;
  try {
    row = rowShape.parse(JSON.parse(line));
  } catch {
    throw new Failure('usage', `${place}: expected an object with text, labels, source and lang`);
  }
  const targets = new Float32Array(OUTPUTS);
  for (const label of row.labels) {
    if (label === BENIGN) continue;
    targets[OVERALL] = 1;
    if (label === UNSPECIFIED) continue;
    const category = CATEGORIES.find((candidate) => candidate.label === label);
    if (category === undefined) throw new Failure('usage', `${place}: unknown label`);
    targets[category.index] = 1;
  }
  return { text: row.text, source: row.source, language: row.lang, targets };
}
