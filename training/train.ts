import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { standardError, standardOutput } from '../src/terminal/standard-streams.ts';
import { featureFingerprint } from '../src/guard-server/lite/feature-fingerprint.ts';
import { FeatureExtractor } from '../src/guard-server/lite/features.ts';
import { logistic } from '../src/guard-server/lite/elementary.ts';
import { LiteModel } from '../src/guard-server/lite/model.ts';
import { encodeRules } from '../src/guard-server/lite/rules.ts';
import { calibrate } from './fit/calibration.ts';
import { corporaFolder, readCorpus, type LabelledText } from './corpora/corpus.ts';
import { runTool } from './command.ts';
import { evaluate } from './measure/evaluation.ts';
import { heldOutLogits } from './measure/held-out.ts';
import { modelCard } from './model-card/model-card.ts';
import { projectFolder } from './project-folder.ts';
import { quantise } from './fit/quantise.ts';
import { seededRandom } from './random.ts';
import { chooseThresholds } from './fit/thresholds.ts';
import { trainNetwork } from './fit/trainer.ts';
import { OUTPUTS, encodeWeights } from '../src/guard-server/lite/weights-file.ts';

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

async function train(): Promise<void> {
  const folder = corporaFolder();
  say(`reading ${folder}; seed ${SEED}`);
  const [rows, dev, unspecified] = await Promise.all([
    readCorpus(folder, 'train'),
    readCorpus(folder, 'dev'),
    readCorpus(folder, 'unsafe_unspecified'),
  ]);
  const started = performance.now();
  const rules = learnRules(rows, heldOutLogits(rows, SEED, say));
  say('training on all texts');
  const extractor = new FeatureExtractor();
  const weights = encodeWeights(quantise(trainNetwork(rows, extractor, seededRandom(SEED))));
  const rulesFile = encodeRules({ features: featureFingerprint(extractor), ...rules });
  say(`trained in ${Math.round((performance.now() - started) / 1000)} s`);

  const model = new LiteModel(weights, Buffer.from(rulesFile));
  const evaluation = evaluate(model, dev, unspecified);
  const card = modelCard({
    seed: SEED,
    weightsBytes: weights.length,
    artifacts: model.artifacts,
    train: rows,
    dev,
    unspecified,
    evaluation,
  });
  await writeInProject(WEIGHTS, weights);
  await writeInProject(RULES, rulesFile);
  await writeInProject(MODEL_CARD, card);
  standardOutput().lines(evaluation.trimEnd().split('\n'));
  for (const [name, hash] of Object.entries(model.artifacts)) say(`${name} ${hash}`);
}

await runTool(train);
