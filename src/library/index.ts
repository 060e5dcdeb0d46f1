/** The package's public API. Everything else in the package may change at any time. */

export { Failure, type FailureKind } from '../domain/failure.ts';
export type { Decision, OutcomeLine } from '../domain/outcome.ts';
export type { Policy, Thresholds } from '../domain/policy.ts';
export type { CategoryKey } from '../domain/taxonomy.ts';
export type { RunConfig, RunRecord } from '../config/run-config.ts';
export type { Manifest } from '../record/manifest/manifest.ts';
export type { GateResult } from '../record/summary/gates.ts';
export type { Summary } from '../record/summary/summary.ts';
export type { RunView } from '../runs/progress.ts';
export { readRun, type RunDirectory } from './read-run.ts';
export type { CleanRows } from './clean-rows.ts';
export type { GivenFlags } from './given-flags.ts';
export { startRun, type EndedRun, type StartRunOptions } from './start-run.ts';
export { verdicts } from './verdicts.ts';
