import { FFMPEG, suite } from '../helpers/setup/suite.ts';

/** Damaged images, clips, videos, tables, archives, documents and mail. */
export default suite('fuzz', [FFMPEG], { maxWorkers: 1 });
