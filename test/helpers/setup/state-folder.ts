import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Where the commands that tests run keep what they keep for their user, instead of in the home of whoever tests. */
export const STATE_FOLDER = join(tmpdir(), `guardsweep-test-state-${userInfo().uid}`);
