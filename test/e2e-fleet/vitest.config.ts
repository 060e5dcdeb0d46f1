import { FFMPEG, REDIS, suite } from '../helpers/setup/suite.ts';

/** Whole fleets: a real Redis, deaths and outages at real speed. */
export default suite('e2e-fleet', [REDIS, FFMPEG], { maxWorkers: 3 });
