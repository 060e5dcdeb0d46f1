import { REDIS, suite } from '../helpers/setup/suite.ts';

/** The dashboard's pages in Chromium, on the real server with real runs. */
export default suite('browser', [REDIS, 'test/helpers/browser/install-chromium.ts'], { maxWorkers: 2 });
