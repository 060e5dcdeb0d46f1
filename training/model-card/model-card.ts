import { Failure } from '../../src/domain/failure.ts';
import { BUCKETS } from '../../src/guard-server/lite/features.ts';
import { CONTEXT_WEIGHT } from '../../src/guard-server/lite/model.ts';
import { MAX_PIECE_UNITS, WINDOW_UNITS } from '../../src/guard-server/lite/pieces.ts';
import { HIDDEN } from '../../src/guard-server/lite/weights-file.ts';
import type { LabelledText } from '../corpora/corpus.ts';
import { DATA_SOURCES, dataSourceOf } from '../corpora/sources.ts';
import { BENIGN_FLAG_RATE, LOOK_ALIKE_FLAG_RATE } from '../fit/thresholds.ts';

/** The facts of one training. */
interface TrainingRecord {
  readonly seed: number;
  readonly weightsBytes: number;
  /** All texts of the corpora, for training and for measuring. */
  readonly texts: readonly LabelledText[];
  /** As Markdown. */
  readonly evaluation: string;
  readonly leftOut: string;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

/** The data sets by licence, as a list. Failure('usage') when a text's source is not one of them. */
function sourceList(texts: readonly LabelledText[]): string {
  const unknown = texts.find(({ source }) => dataSourceOf(source) === undefined);
  if (unknown !== undefined) {
    throw new Failure('usage', `source ${unknown.source} is not in the list of sources and licences`);
  }
  const licences = [...new Set(DATA_SOURCES.map(({ licence }) => licence))].sort();
  return licences
    .map((licence) => {
      const sets = DATA_SOURCES.filter((source) => source.licence === licence);
      const names = sets.map(({ title, repository, paper }) =>
        paper === null ? `${title} (${repository})` : `${title} (${repository}; ${paper})`,
      );
      return `- **${licence}**: ${names.join('; ')}.\n`;
    })
    .join('');
}

/** The model card as Markdown. */
export function modelCard(record: TrainingRecord): string {
  return `# The embedded model

<!-- Written by \`npm run train\`; change training/model-card/model-card.ts instead. -->

\`lite\` is the model of the embedded guard. With it a fresh machine can do the whole job, and a developer can test against the
contract of a real guard. It recognises wording, not intent, and of images [one thing only](#images-and-audio).
**An item that it lets pass is not thereby harmless.** Use a real guard for any decision that matters.

## Evaluation

AUPRC is average precision. "Flagged" means at the default thresholds. \`node dist/training/evaluate.js\` prints more tables:
alarming words, languages, plain sentences, prose, disguised and long text.

**The first table is the honest estimate for your own texts.** Each kind of source was judged by a network trained without it.

${record.leftOut}
The others are of known origin: \`dev\` has the sources of the training data. Weights, calibration and thresholds were fitted to
training texts alone, but choices of design were made with figures on dev in view. Hazards of no category fit none of the
thirteen. A category counts as flagged only if the text is flagged.

${record.evaluation}
## Method

- Normalised words, pairs of words and character n-grams are hashed into ${BUCKETS} buckets. One hidden layer of ${HIDDEN} units maps them
  to 14 logits, the same on all machines: the categories, and any hazard.
- It is trained on the public texts below, and on short plain violations and look-alikes from our own templates. Calibration and
  thresholds come from networks that had seen neither a text nor its near-duplicates.
- The overall threshold is the lowest that flags at most ${percent(BENIGN_FLAG_RATE)} of benign text, and at most ${percent(LOOK_ALIKE_FLAG_RATE)} of benign text with
  alarming words. A category's has the best F1.
- A text over ${MAX_PIECE_UNITS} characters is judged in pieces, and in windows of two, at most ${WINDOW_UNITS}; the highest counts.
- A response or a last turn is judged by its own words. The worst turn before it counts as an independent chance, with weight
  ${CONTEXT_WEIGHT.assistant} before an assistant's turn, ${CONTEXT_WEIGHT.user} before a user's.

Weights: ${record.weightsBytes} bytes. \`guardsweep fingerprint --guard embedded:\` shows the artifacts.

## Limits

- It learnt hazards mostly from requests to an assistant. In posts, comments and answers it misses much.
- Refusals, quotations, reports and jokes are told from the real thing by their wording at best.
- Where a language has few benign texts in the data, everyday sentences are flagged too often (Chinese, Japanese, Korean). Where
  it has no hazards or no texts at all, scores mean little.
- A hazard in long harmless text is often missed. Defamation and Specialized Advice are thin.
- The categories of AdvBench and of parts of HarmBench, StrongREJECT and JailbreakBench were set by word rules. Multilingual
  HateCheck is in the training data, so nothing here is a result on it.

## Images and audio

**An image** in normal form is judged by the MobileNetV2 network of [nsfwjs](https://github.com/infinitered/nsfwjs) 4.2.1 (MIT),
whose weights come with this package (\`training/image-model/make.mjs\`). Its classes become one probability, of Sexual Content: Porn
and Hentai count 1, Sexy 0.5, Drawing and Neutral 0; from 0.5 on the image is flagged. A caption is judged as a text, and the
worse of both counts. The other twelve categories are the caption's, and absent without one.

- It looks for nudity and sexual acts alone. Violence, weapons, hate symbols, self-harm and written words pass unseen. There is
  no probe for Child Sexual Exploitation.
- **We have not measured its quality.** Its authors speak of 90 % accuracy. Small things are lost in its 224 × 224 pixels.
- It needs the SIMD build of WebAssembly; where that does not run, images end as \`PROBE_NOT_LOADED\`. The first image loads it.

Its artifacts are \`lite-image-network\`, \`-weights\`, \`-rules\` and \`-runtime\`, part of the fingerprint from the start.

**A clip** is judged by its transcript. Nothing here can hear: without one a clip ends as \`PROBE_NOT_LOADED\`.

## Data and licences

Texts are not part of this repository; the weights are. Each data set keeps its licence: who passes on texts owes attribution
(CC-BY), the same licence (CC-BY-SA), or the licence notice (MIT, Apache-2.0, CDLA-Permissive-2.0). Whether weights adapt the texts
that they were learnt from is not settled. Leave a source out and train again to be sure. Repositories are on github.com.

${sourceList(record.texts)}
## Training it again

\`npm run train -- [folder]\` reads \`train.jsonl.gz\`, \`extra.jsonl.gz\`, \`dev.jsonl.gz\` and \`unsafe_unspecified.jsonl.gz\` in the folder
(else TRAIN_CORPORA, else \`../shared/corpora\`): one JSON object per line with text, labels and source. The seed is ${record.seed}: the
same data give the same weights, byte for byte.
`;
}
