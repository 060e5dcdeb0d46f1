import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Failure } from '../src/domain/failure.ts';
import { standardError, standardOutput } from '../src/terminal/standard-streams.ts';
import { featureFingerprint } from '../src/guard-server/lite/feature-fingerprint.ts';
import { logistic } from '../src/guard-server/lite/elementary.ts';
import { LiteModel } from '../src/guard-server/lite/model.ts';
import { normalise } from '../src/guard-server/lite/normalise.ts';
import { encodeRules } from '../src/guard-server/lite/rules.ts';
import { calibrate } from './fit/calibration.ts';
import { corporaFolder, readCorpus, readExtra, type LabelledText } from './corpora/corpus.ts';
import { plainTexts } from './corpora/plain-texts.ts';
import { runTool } from './command.ts';
import { evaluate } from './measure/evaluation.ts';
import { heldOutLogits } from './measure/held-out.ts';
import { leftOutTable, withoutSources } from './measure/left-out.ts';
import { sentencesOf, type PlainWords } from './measure/plain-words.ts';
import { readUnseen } from './measure/unseen.ts';
import { modelCard } from './model-card/model-card.ts';
import { projectFolder } from './project-folder.ts';
import { chooseThresholds } from './fit/thresholds.ts';
import { trainNetworks } from './fit/train-networks.ts';
import { OUTPUTS } from '../src/guard-server/lite/weights-file.ts';

const SEED = 20261121;

/** The files that training writes, relative to the project's root. */
const WEIGHTS = 'src/guard-server/weights/lite.bin';
const RULES = 'src/guard-server/weights/lite.json';
const MODEL_CARD = 'docs/embedded-model.md';

function say(line: string): void {
  standardError().line(line);
}

async function writeInProject(path: string, data: string | Buffer): Promise<void> {
  const file = join(projectFolder(), path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, data);
}

/** Calibration and thresholds, from logits of networks that had not seen the texts. */
function learnRules(rows: readonly LabelledText[], logits: readonly (readonly number[])[]) {
  const calibration = Array.from({ length: OUTPUTS }, (_, output) =>
    calibrate(
      logits.map((row) => row[output]!),
      rows.map((row) => row.targets[output]!),
    ),
  );
  const probabilities = logits.map((row) =>
    row.map((logit, output) => {
      const { slope, offset } = calibration[output]!;
      return logistic(slope * logit + offset);
    }),
  );
  return { calibration, thresholds: chooseThresholds(rows, probabilities) };
}

/** Failure('usage') when a training text is one of the sentences that the model is tested with. */
function refuseKnown(rows: readonly LabelledText[], plainWords: PlainWords): void {
  const known = new Set(sentencesOf(plainWords).map((sentence) => normalise(sentence)));
  if (rows.some(({ text }) => known.has(normalise(text)))) {
    throw new Failure('usage', 'a training text equals one of the plain sentences that no training may see');
  }
}

async function train(): Promise<void> {
  const folder = corporaFolder();
  say(`reading ${folder}; seed ${SEED}`);
  const [train, extra, plain, unseen] = await Promise.all([
    readCorpus(folder, 'train'),
    readExtra(folder),
    plainTexts(),
    readUnseen(folder),
  ]);
  const rows = [...train, ...extra.seen, ...plain];
  refuseKnown(rows, unseen.plainWords);
  const started = performance.now();
  const rules = learnRules(rows, await heldOutLogits(rows, SEED, say));
  const rulesFile = encodeRules({ features: featureFingerprint(), ...rules });
  const sets = [rows, ...withoutSources(rows)].map((texts) => ({ rows: texts, seed: SEED }));
  const files = await trainNetworks(sets, say);
  const weights = files[0]!;
  const [model, ...lacking] = files.map((file) => new LiteModel(file, Buffer.from(rulesFile)));
  const evaluation = evaluate(model!, unseen);
  const leftOut = leftOutTable(lacking, rows, unseen.dev);
  say(`trained in ${Math.round((performance.now() - started) / 1000)} s`);
  const card = modelCard({
    seed: SEED,
    weightsBytes: weights.length,
    texts: [...train, ...extra.seen, ...unseen.dev, ...unseen.prose, ...unseen.unspecified],
    evaluation: evaluation.main,
    leftOut,
  });
  await writeInProject(WEIGHTS, weights);
  await writeInProject(RULES, rulesFile);
  await writeInProject(MODEL_CARD, card);
  standardOutput().lines(`${evaluation.main}\n${evaluation.more}\n${leftOut}`.trimEnd().split('\n'));
  for (const [name, hash] of Object.entries(model!.artifacts)) say(`${name} ${hash}`);
}

await runTool(train);
