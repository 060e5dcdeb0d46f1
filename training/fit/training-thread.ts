import { parentPort, workerData } from 'node:worker_threads';
import { FeatureExtractor } from '../../src/guard-server/lite/features.ts';
import { encodeWeights } from '../../src/guard-server/lite/weights-file.ts';
import { seededRandom } from '../random.ts';
import { quantise } from './quantise.ts';
import type { TrainingSet } from './train-networks.ts';
import { trainNetwork } from './trainer.ts';
import { vocabularyOf } from './vocabulary-of.ts';

/** Entry point of a training thread: trains one network and answers its weights file. */
const { rows, seed } = workerData as TrainingSet;
const vocabulary = vocabularyOf(rows);
const network = trainNetwork(rows, new FeatureExtractor(vocabulary), seededRandom(seed));
parentPort!.postMessage(encodeWeights({ ...quantise(network), vocabulary }));
