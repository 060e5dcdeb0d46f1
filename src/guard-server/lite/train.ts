import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { standardError, standardOutput } from '../../terminal/standard-streams.ts';
import { featureFingerprint } from './feature-fingerprint.ts';
import { FeatureExtractor } from './features.ts';
import { logistic } from './elementary.ts';
import { LiteModel } from './model.ts';
import { encodeRules } from './rules.ts';
import { calibrate } from './training/calibration.ts';
import { corporaFolder, readCorpus, type LabelledText } from './training/corpus.ts';
import { runTool } from './training/command.ts';
import { evaluate } from './training/evaluation.ts';
import { heldOutLogits } from './training/held-out.ts';
import { modelCard } from './training/model-card.ts';
import { projectFolder } from './training/project-folder.ts';
import { quantise } from './training/quantise.ts';
import { seededRandom } from './training/random.ts';
import { chooseThresholds } from './training/thresholds.ts';
import { trainNetwork } from './training/trainer.ts';
import { OUTPUTS, encodeWeights } from './weights-file.ts';

const SEED = 20261121;

/** What training writes, relative to the project's folder. */
const WEIGHTS = 'src/guard-server/weights/lite.bin';
const RULES = 'src/guard-server/weights/lite.json';
const MODEL_CARD = 'docs/embedded-model.md';

function say(line: string): void {
  standardError().line(line);
}

async function writeBelowProject(path: string, data: string | Buffer): Promise<void> {
  const file = join(projectFolder(), path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, data);
}

/** Calibration and thresholds from texts the judging networks had not seen. */
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
  say('training on all');
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
  await writeBelowProject(WEIGHTS, weights);
  await writeBelowProject(RULES, rulesFile);
  await writeBelowProject(MODEL_CARD, card);
  standardOutput().lines(evaluation.trimEnd().split('\n'));
  for (const [name, hash] of Object.entries(model.artifacts)) say(`${name} ${hash}`);
}

await runTool(train);
