import { FFMPEG, REDIS, suite } from '../helpers/setup/suite.ts';

/** The built command line from end to end: runs, crashes, exit statuses. */
export default suite('e2e', [REDIS, FFMPEG], { maxWorkers: 2 });
