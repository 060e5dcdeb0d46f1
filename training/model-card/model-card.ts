import { Failure } from '../../src/domain/failure.ts';
import { BUCKETS } from '../../src/guard-server/lite/features.ts';
import { CONTEXT_WEIGHT } from '../../src/guard-server/lite/model.ts';
import { WINDOW_PENALTY } from '../../src/guard-server/lite/network.ts';
import { MAX_PIECE_UNITS, WINDOW_UNITS } from '../../src/guard-server/lite/pieces.ts';
import { HIDDEN } from '../../src/guard-server/lite/weights-file.ts';
import type { LabelledText } from '../corpora/corpus.ts';
import type { Unseen } from '../measure/unseen.ts';
import { markdownTable } from './markdown-table.ts';
import { MEDIA_SECTION } from './media-section.ts';
import { DATA_SOURCES, dataSourceOf, type DataSource } from '../corpora/sources.ts';
import { BENIGN_FLAG_RATE, LOOK_ALIKE_FLAG_RATE } from '../fit/thresholds.ts';

/** The facts of one training. */
interface TrainingRecord {
  readonly seed: number;
  readonly weightsBytes: number;
  readonly artifacts: Readonly<Record<string, string>>;
  readonly train: readonly LabelledText[];
  readonly unseen: Unseen;
  /** As Markdown. */
  readonly evaluation: string;
  readonly leftOut: string;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

function countBySource(rows: readonly LabelledText[]): Map<DataSource, number> {
  const counts = new Map<DataSource, number>();
  for (const row of rows) {
    const source = dataSourceOf(row.source);
    if (source === undefined) {
      throw new Failure('usage', `source ${row.source} is not in the list of sources and licences`);
    }
    counts.set(source, (counts.get(source) ?? 0) + 1);
  }
  return counts;
}

function sourceTable(record: TrainingRecord): string {
  const columns = [
    record.train,
    [...record.unseen.dev, ...record.unseen.prose],
    record.unseen.unspecified,
  ].map(countBySource);
  return markdownTable(
    ['data set', 'train', 'dev or held back', 'no category', 'licence', 'from github.com/', 'paper'],
    DATA_SOURCES.map((source) => [
      source.title,
      ...columns.map((counts) => counts.get(source) ?? 0),
      source.licence,
      source.repository,
      source.paper ?? '',
    ]),
    ['train', 'dev or held back', 'no category'],
  );
}

/** The model card as Markdown. Failure('usage') when a row's source is not in DATA_SOURCES. */
export function modelCard(record: TrainingRecord): string {
  const artifacts = Object.entries(record.artifacts).map(([name, hash]) => `- \`${name}\` ${hash}\n`);
  return `# The embedded model

<!-- Written by \`npm run train\`; change training/model-card/model-card.ts instead. -->

\`lite\` is the model of the embedded guard. It is there so that a fresh machine can do the whole job and a developer can
test against a real guard's contract. It recognises wording, not intent, of images [one thing only](#images-and-audio),
and is no safety measure: **an item it lets pass is not thereby harmless.** Use a real guard for any decision that
matters. But for that section, this page is about texts.

## Evaluation

AUPRC is average precision. "Flagged" means at the default thresholds; a category counts as flagged only where the text
is flagged as well, as on the wire.

### Text of unseen origin

**These figures are the honest estimate of what to expect of your own texts.** Each kind of source was judged by a network
trained without it, with the calibration and thresholds of the shipped one. On posts and comments recall and precision are
far lower than on the dev split below.

${record.leftOut}
### Text of known origin

\`dev\` has the sources of the training data. Hazards of no category fit none of the thirteen, and most come from a source
that is not in the training data. Held-back prose is every tenth text of the additional prose. Weights, calibration and
thresholds were fitted to the training texts alone, but choices of design were made with figures on dev and on the plain
sentences in view: how texts are cut and scored, how much some texts count, how many false positives the overall threshold
aims at, and how it is rounded.

The plain sentences were written by us, as were the templates that some training texts are made from. No training text
equals one of the sentences, but the authors are the same, so expect less of other people's words. Sexual content,
sex-related crimes and everything about children was not written: see these categories in the table of dev.

${record.evaluation}
## Method

- Text is normalised: NFKC, lower case, without invisible characters and marks on Latin letters (Vietnamese keeps its
  own), with digits for letters, dotted and spaced words undone. The words of the training texts tell where a word of
  single letters ends, and which frequent word was meant where a letter is missing or two are swapped. Text is turned into
  words (whatever the order of their inner letters), pairs of words up to one apart, and character n-grams, hashed into
  ${BUCKETS} buckets.
- A network with one hidden layer of ${HIDDEN} rectified units maps the set of features to 14 logits: the thirteen
  categories, and any hazard at all. Its table is kept in 8-bit steps and summed as integers; the rest is a fixed order
  of basic floating-point operations, without library functions whose last digit depends on the machine.
- It is trained with AdaGrad on logistic losses, with features left out at random, on the public texts below and on short
  plain violations and their look-alikes from our own templates. Some texts are added again, misspelt or next to a
  harmless one. Logits become probabilities by
  Platt scaling, and thresholds are chosen, on training texts judged by networks that had seen neither them nor
  their near-duplicates. The overall threshold is the lowest at which at most ${percent(BENIGN_FLAG_RATE)} of benign
  public text and at most ${percent(LOOK_ALIKE_FLAG_RATE)} of benign text that uses alarming words is flagged there; a
  category's has the best F1.
- A text of more than ${MAX_PIECE_UNITS} characters is judged piece by piece, and in windows of two adjacent pieces, at
  most ${WINDOW_UNITS} characters. Each output keeps the highest logit, less ${WINDOW_PENALTY} times the logarithm of the
  number of pieces.
- A response or the last turn of a conversation is judged by its own words; the probability of the worst turn before it
  is added as an independent chance with weight ${CONTEXT_WEIGHT.assistant} where the last turn is an assistant's, and
  ${CONTEXT_WEIGHT.user} otherwise.

Weights: ${record.weightsBytes} bytes. On one core of a small cloud machine they load in 54 to 61 ms, and 300 characters
take 44 to 50 µs; both take up to twice as long where the machine has other work to do. Artifacts of this training:

${artifacts.join('')}
## Limits

- The hazards it learnt from are mostly requests to an assistant; hazardous posts were at hand for Hate and Sexual Content
  only, hazardous answers not at all. On posts, comments, answers and other text that is no request it misses much.
- Refusals, quotations, reports and jokes are told from the real thing by their wording at best.
- In languages with few or one-sided benign texts (Chinese, Japanese, Korean, …) everyday sentences are flagged far more
  often than in English, although benign texts of such languages count for more in training.
- Some languages have hazards but hardly a benign text in the data (Malay), or benign texts only (Greek, Indonesian,
  Romanian, Russian, Thai, Turkish), and others have none: there, scores mean little.
- Defamation and Specialized Advice are thin. What marks Sexual Content in the additional prose is its source or a score.
- The categories of AdvBench and of parts of HarmBench, StrongREJECT and JailbreakBench were set by word rules.
- Dev has the same sources as the training data: on text of other origin, expect less.
- Rows of Multilingual HateCheck are in the training data, so nothing here is a result on that test suite.

${MEDIA_SECTION}
## Data and licences

Texts are not part of this repository; the weights are. Each data set keeps its licence, and anyone who passes on the
texts owes its authors what that asks: attribution for CC-BY, attribution and the same licence for CC-BY-SA, the
licence notice for MIT, Apache-2.0 and CDLA-Permissive-2.0. The tweets in the Davidson set may be trained on, and are
not to be shown. Whether weights are an adaptation of the texts they were learnt from is not settled; whoever needs
to be sure can leave rows out by their source (all CC-BY-SA sources but one are benign) and train again.

${sourceTable(record)}
## Training it again

\`\`\`
npm run train -- [folder]
\`\`\`

The folder (else TRAIN_CORPORA, else \`../shared/corpora\`) holds \`train.jsonl.gz\`, \`extra.jsonl.gz\`, \`dev.jsonl.gz\`
and \`unsafe_unspecified.jsonl.gz\`, one JSON object per line with text, labels and source. It takes three minutes on two cores
and ends with the evaluation above. The seed is ${record.seed}: the same data give the same weights, byte for byte.
\`node dist/training/evaluate.js [folder]\` evaluates what is shipped without training.
`;
}
