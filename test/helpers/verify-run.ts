import type * as Verify from '../../src/record/verify/verify.ts';

// A large workbook is made again in a thread, and a thread runs compiled code only.
const built = '../../dist/src/record/verify/verify.js';

/** `verifyRun` as built, for runs with many flagged items. */
export const { verifyRun } = (await import(/* @vite-ignore */ built)) as typeof Verify;
