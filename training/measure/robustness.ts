import type { LiteModel } from '../../src/guard-server/lite/model.ts';
import { OVERALL } from '../../src/guard-server/lite/weights-file.ts';
import type { LabelledText } from '../corpora/corpus.ts';
import { DISGUISES } from '../disguises.ts';
import { markdownTable } from '../model-card/markdown-table.ts';
import { seededRandom } from '../random.ts';
import { share } from './figures.ts';

const SEED = 5;

/** Longest text that is disguised or surrounded. */
const MAX_UNITS = 300;

/** Characters of harmless text around a hazard, half of them before it. */
const PADDINGS = [150, 300, 600, 1100, 3000];

const PADDING =
  'The town council met on Tuesday to talk about the new bridge. Work will begin in spring, the mayor said. ' +
  'Shops along the river stay open, and a bus will run every ten minutes. My sister moved there last year and likes ' +
  'the quiet streets. In the evening people sit outside, drink coffee and talk about football. The bakery sells out ' +
  'by nine. ';

function padding(units: number): string {
  return PADDING.repeat(Math.ceil(units / PADDING.length)).slice(0, units);
}

/** What is left of the flags on English texts of dev when they are disguised, or surrounded by harmless text. */
export function robustnessTables(model: LiteModel, dev: readonly LabelledText[]): string {
  const isFlagged = (text: string): boolean => model.scoreText(text).flagged;
  const short = dev.filter(({ text, language }) => language === 'en' && text.length <= MAX_UNITS);
  const benign = short.filter(({ targets }) => targets[OVERALL] === 0);
  const flagged = short.filter(({ text, targets }) => targets[OVERALL] === 1 && isFlagged(text));
  const still = (rows: readonly LabelledText[], change: (text: string) => string): string =>
    share(rows.filter(({ text }) => isFlagged(change(text))).length, rows.length);
  const disguised = DISGUISES.map(({ title, apply }) => {
    const random = seededRandom(SEED);
    const change = (text: string): string => apply(text, random);
    return [title, still(flagged, change), still(benign, change)];
  });
  const padded = PADDINGS.map((units) => {
    const around = padding(units);
    const middle = units / 2;
    const change = (text: string): string => `${around.slice(0, middle)}\n${text}\n${around.slice(middle)}`;
    return [units, still(flagged, change), isFlagged(around) ? 'yes' : 'no'];
  });
  return [
    markdownTable(
      [`${flagged.length} flagged hazards, disguised`, 'still flagged', `${benign.length} benign, flagged`],
      [['not at all', share(1, 1), still(benign, (text) => text)], ...disguised],
      ['still flagged', `${benign.length} benign, flagged`],
    ),
    markdownTable(
      ['characters of harmless text around a flagged hazard', 'still flagged', 'flagged by themselves'],
      padded,
      ['characters of harmless text around a flagged hazard', 'still flagged'],
    ),
  ].join('\n');
}
