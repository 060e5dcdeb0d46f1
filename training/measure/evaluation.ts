import { CATEGORIES } from '../../src/domain/taxonomy.ts';
import type { LiteModel, TextScores } from '../../src/guard-server/lite/model.ts';
import { OVERALL } from '../../src/guard-server/lite/weights-file.ts';
import { averagePrecision } from './average-precision.ts';
import { calibrationError } from './calibration-error.ts';
import { figure } from './figures.ts';
import { plainWordsTables } from './plain-words.ts';
import { robustnessTables } from './robustness.ts';
import type { Unseen } from './unseen.ts';
import type { LabelledText } from '../corpora/corpus.ts';
import { LOOK_ALIKE_SOURCES, isLookAlike } from '../corpora/look-alikes.ts';
import { markdownTable } from '../model-card/markdown-table.ts';

/** Languages with fewer benign texts in dev are left out of the table as not significant. */
const MIN_TEXTS = 30;

/** Headings of numeric columns. */
const NUMERIC = ['texts', 'value', 'AUPRC', 'precision', 'recall', 'flagged'];

/** Texts joined into a long text. */
const LONG_TEXT_PASSAGES = 40;

/** Stride through the hazards inserted into long texts, to sample all of dev. */
const HAZARD_STRIDE = 17;

interface Judged {
  readonly row: LabelledText;
  readonly scores: TextScores;
}

function flagRate(judged: readonly Judged[]): number {
  return judged.filter(({ scores }) => scores.flagged).length / judged.length;
}

function overallPrecision(judged: readonly Judged[]): number {
  return averagePrecision(
    judged.map(({ scores }) => scores.score),
    judged.map(({ row }) => row.targets[OVERALL]!),
  );
}

/** Tables as Markdown: those of the model card, and more for the terminal. */
interface Evaluation {
  readonly main: string;
  readonly more: string;
}

/** Evaluates a model on labelled texts it has not seen. */
export function evaluate(model: LiteModel, { dev, unspecified, prose, plainWords }: Unseen): Evaluation {
  const judge = (row: LabelledText): Judged => ({ row, scores: model.scoreText(row.text) });
  const judged = dev.map(judge);
  const others = unspecified.map(judge);
  const judgedProse = prose.map(judge);
  const main = [overallTable(judged, others, judgedProse), categoryTable(judged)];
  const more = [
    lookAlikeTable(judged),
    languageTable(judged),
    plainWordsTables(model, plainWords),
    proseTable(judgedProse),
    robustnessTables(model, dev),
    longTextTable(model, dev),
  ];
  return { main: main.join('\n'), more: more.join('\n') };
}

function overallError(judged: readonly Judged[]): string {
  const probabilities = judged.map(({ scores }) => scores.score);
  return figure(
    calibrationError(
      probabilities,
      judged.map(({ row }) => row.targets[OVERALL]!),
    ),
  );
}

function overallTable(
  judged: readonly Judged[],
  others: readonly Judged[],
  prose: readonly Judged[],
): string {
  const benign = judged.filter(({ row }) => row.targets[OVERALL] === 0);
  const hazards = judged.filter(({ row }) => row.targets[OVERALL] === 1);
  const lookAlikes = judged.filter(({ row }) => isLookAlike(row));
  const flagged = judged.filter(({ scores }) => scores.flagged).length;
  const rightlyFlagged = hazards.filter(({ scores }) => scores.flagged).length;
  return markdownTable(
    ['overall score', 'texts', 'value'],
    [
      ['AUPRC, dev', judged.length, figure(overallPrecision(judged))],
      [
        'AUPRC, dev and hazards of no category',
        judged.length + others.length,
        figure(overallPrecision([...judged, ...others])),
      ],
      ['hazards flagged (recall)', hazards.length, figure(flagRate(hazards))],
      ['hazards of no category flagged (recall)', others.length, figure(flagRate(others))],
      ['flagged that are hazards (precision)', flagged, figure(rightlyFlagged / flagged)],
      ['benign flagged (false positives)', benign.length, figure(flagRate(benign))],
      ['benign in alarming words flagged', lookAlikes.length, figure(flagRate(lookAlikes))],
      ['calibration error (ECE), dev', judged.length, overallError(judged)],
      ['calibration error (ECE), held-back prose', prose.length, overallError(prose)],
    ],
    NUMERIC,
  );
}

function categoryTable(judged: readonly Judged[]): string {
  const areas: number[] = [];
  const rows = CATEGORIES.map(({ index, label }): (string | number)[] => {
    const labels = judged.map(({ row }) => row.targets[index]!);
    const area = averagePrecision(
      judged.map(({ scores }) => scores.categories[index]!),
      labels,
    );
    areas.push(area);
    const positives = judged.filter(({ row }) => row.targets[index] === 1);
    const flags = judged.filter(({ scores }) => scores.flagged && scores.categoryFlags[index]);
    const right = flags.filter(({ row }) => row.targets[index] === 1).length;
    return [
      label,
      positives.length,
      figure(area),
      figure(right / flags.length),
      figure(right / positives.length),
    ];
  });
  const mean = areas.reduce((sum, area) => sum + area, 0) / areas.length;
  return markdownTable(
    ['category', 'texts', 'AUPRC', 'precision', 'recall'],
    [...rows, ['mean', '', figure(mean), '', '']],
    NUMERIC,
  );
}

function lookAlikeTable(judged: readonly Judged[]): string {
  const lookAlikes = judged.filter(({ row }) => isLookAlike(row));
  const rows = LOOK_ALIKE_SOURCES.map((source): (string | number)[] => {
    const own = lookAlikes.filter(({ row }) => row.source === source);
    return [source, own.length, figure(flagRate(own))];
  });
  return markdownTable(
    ['benign text that uses alarming words', 'texts', 'flagged'],
    [...rows, ['together', lookAlikes.length, figure(flagRate(lookAlikes))]],
    NUMERIC,
  );
}

function languageTable(judged: readonly Judged[]): string {
  const benign = judged.filter(({ row }) => row.targets[OVERALL] === 0);
  const languages = [...new Set(benign.map(({ row }) => row.language))].sort();
  const rows = languages.flatMap((language): (string | number)[][] => {
    const own = benign.filter(({ row }) => row.language === language);
    return own.length < MIN_TEXTS ? [] : [[language, own.length, figure(flagRate(own))]];
  });
  return markdownTable(['benign text by language', 'texts', 'flagged'], rows, NUMERIC);
}

function proseTable(judged: readonly Judged[]): string {
  const sources = [...new Set(judged.map(({ row }) => row.source))].sort();
  return markdownTable(
    ['held-back prose and writing', 'texts', 'of hazards', 'flagged'],
    sources.map((source): (string | number)[] => {
      const own = judged.filter(({ row }) => row.source === source);
      const hazards = own.filter(({ row }) => row.targets[OVERALL] === 1);
      return [source, own.length, hazards.length, figure(flagRate(own))];
    }),
    [...NUMERIC, 'of hazards'],
  );
}

/** Long texts joined from benign texts of one source, without and with a hazardous text in the middle. */
function longTextTable(model: LiteModel, dev: readonly LabelledText[]): string {
  const bySource = new Map<string, LabelledText[]>();
  for (const row of dev) {
    if (row.targets[OVERALL] === 1 || isLookAlike(row)) continue;
    const rows = bySource.get(row.source);
    if (rows === undefined) bySource.set(row.source, [row]);
    else rows.push(row);
  }
  const hazards = dev.filter((row) => row.targets[OVERALL] === 1);
  const benign: Judged[] = [];
  const mixed: Judged[] = [];
  let next = 0;
  for (const rows of bySource.values()) {
    for (let first = 0; first + LONG_TEXT_PASSAGES <= rows.length; first += LONG_TEXT_PASSAGES) {
      const passages = rows.slice(first, first + LONG_TEXT_PASSAGES);
      const row = passages[0]!;
      const text = (inserted: string[]): string =>
        passages
          .map((passage) => passage.text)
          .toSpliced(LONG_TEXT_PASSAGES / 2, 0, ...inserted)
          .join('\n\n');
      benign.push({ row, scores: model.scoreText(text([])) });
      const hazard = hazards[(next += HAZARD_STRIDE) % hazards.length]!;
      mixed.push({ row: hazard, scores: model.scoreText(text([hazard.text])) });
    }
  }
  return markdownTable(
    [`long text: ${LONG_TEXT_PASSAGES} benign texts in a row`, 'texts', 'flagged'],
    [
      ['as they are', benign.length, figure(flagRate(benign))],
      ['with one hazard among them', mixed.length, figure(flagRate(mixed))],
    ],
    NUMERIC,
  );
}
