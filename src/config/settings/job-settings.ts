import { EXPORT_CLEAN, HEAD_FILE, KEEP, ON_FINISH, REPORT } from './entries/after-run.ts';
import { MAX_WAIT, PRIORITY } from './entries/fleet.ts';
import {
  ALLOW_EMPTY,
  ALLOW_ERRORS,
  BLOCKED_RATE,
  CATEGORY_GATES,
  ERROR_RATE,
  FLAGGED_RATE,
  UNCOVERED_RATE,
} from './entries/gates.ts';
import {
  CANARIES,
  EXPECT_FINGERPRINT,
  GUARD,
  GUARD_CA,
  GUARD_CERT,
  GUARD_KEY,
  GUARD_POLICY,
} from './entries/guard.ts';
import { FRAMES, LONG_AUDIO_MODE, POLICY, REUSE, STORE, TRUST_DECLARED } from './entries/judging.ts';
import { UNPACK_DEPTH, UNPACK_PARTS, UNPACK_RATIO, UNPACK_SIZE } from './entries/unpack.ts';
import { CSV_SEPARATOR, FORMAT, INCLUDE_CONTENT, NAME, OUT } from './entries/output.ts';
import {
  AS_STREAM,
  AUDIT,
  ENCODING,
  HEADER,
  ID_COLUMN,
  LAYOUT,
  SOURCE_PATH,
  STREAM_CADENCE,
  TEXT_COLUMN,
} from './entries/sources.ts';
import { FOR } from './entries/file-settings.ts';
import { LIMIT, SAMPLE, SEED } from './entries/sampling.ts';
import { SCHEDULE_CATCH_UP, SCHEDULE_CRON, SCHEDULE_KEEP, SCHEDULE_TIMEZONE } from './entries/schedule.ts';
import type { Setting } from './setting.ts';

/** All settings that a job file can give, in the order of its documentation. */
export const JOB_SETTINGS: readonly Setting[] = [
  NAME,
  SOURCE_PATH,
  TEXT_COLUMN,
  ID_COLUMN,
  AUDIT,
  AS_STREAM,
  STREAM_CADENCE,
  ENCODING,
  LAYOUT,
  HEADER,
  FOR,
  GUARD,
  GUARD_CA,
  GUARD_CERT,
  GUARD_KEY,
  GUARD_POLICY,
  POLICY,
  OUT,
  FORMAT,
  CSV_SEPARATOR,
  INCLUDE_CONTENT,
  STORE,
  REUSE,
  TRUST_DECLARED,
  FLAGGED_RATE,
  BLOCKED_RATE,
  CATEGORY_GATES,
  ERROR_RATE,
  UNCOVERED_RATE,
  LIMIT,
  SAMPLE,
  SEED,
  FRAMES,
  UNPACK_DEPTH,
  UNPACK_PARTS,
  UNPACK_SIZE,
  UNPACK_RATIO,
  LONG_AUDIO_MODE,
  EXPECT_FINGERPRINT,
  CANARIES,
  ALLOW_ERRORS,
  ALLOW_EMPTY,
  PRIORITY,
  REPORT,
  EXPORT_CLEAN,
  KEEP,
  HEAD_FILE,
  ON_FINISH,
  MAX_WAIT,
  SCHEDULE_CRON,
  SCHEDULE_TIMEZONE,
  SCHEDULE_CATCH_UP,
  SCHEDULE_KEEP,
];
