import type { LiteModel } from '../../src/guard-server/lite/model.ts';
import { OVERALL } from '../../src/guard-server/lite/weights-file.ts';
import type { LabelledText } from '../corpora/corpus.ts';
import { LEFT_OUT, isFrom } from '../corpora/left-out-sources.ts';
import { markdownTable } from '../model-card/markdown-table.ts';
import { averagePrecision } from './average-precision.ts';
import { figure } from './figures.ts';

/** The texts to train on without the sources of each entry of LEFT_OUT. */
export function withoutSources(rows: readonly LabelledText[]): LabelledText[][] {
  return LEFT_OUT.map((kinds) => {
    const sources = kinds.flatMap((kind) => kind.sources);
    return rows.filter((row) => !isFrom(row, sources));
  });
}

/**
 * Judges each kind of source with a model trained without it, as Markdown; `models` has one per entry of LEFT_OUT.
 * AUPRC is that of the kind's hazards against its own benign texts, or those of dev where it has none.
 */
export function leftOutTable(
  models: readonly LiteModel[],
  rows: readonly LabelledText[],
  dev: readonly LabelledText[],
): string {
  const lines = LEFT_OUT.flatMap((kinds, entry) =>
    kinds.map((kind) => {
      const judged = (texts: readonly LabelledText[]) =>
        texts.map(({ text, targets }) => ({ label: targets[OVERALL]!, ...models[entry]!.scoreText(text) }));
      const own = judged([...rows, ...dev].filter((row) => isFrom(row, kind.sources)));
      const hazards = own.filter(({ label }) => label === 1);
      const benign = own.filter(({ label }) => label === 0);
      const compared = benign.length > 0 ? own : [...own, ...judged(dev.filter(isBenign))];
      const area = averagePrecision(
        compared.map(({ score }) => score),
        compared.map(({ label }) => label),
      );
      return [kind.title, hazards.length, flagRate(hazards), benign.length, flagRate(benign), figure(area)];
    }),
  );
  return markdownTable(
    ['sources left out of the training', 'hazards', 'flagged', 'benign', 'wrongly flagged', 'AUPRC'],
    lines,
    ['hazards', 'flagged', 'benign', 'wrongly flagged', 'AUPRC'],
  );
}

function isBenign({ targets }: LabelledText): boolean {
  return targets[OVERALL] === 0;
}

function flagRate(judged: readonly { readonly flagged: boolean }[]): string {
  return figure(judged.filter(({ flagged }) => flagged).length / judged.length);
}
