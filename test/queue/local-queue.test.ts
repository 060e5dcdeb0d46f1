import { LocalQueue } from '../../src/queue/local-queue.ts';
import { queueConformance } from './conformance.ts';

queueConformance('local', (bound) => new LocalQueue<number>(bound));
