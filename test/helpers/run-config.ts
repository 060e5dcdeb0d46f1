import { basename } from 'node:path';
import {
  DEFAULT_LIMITS,
  type Judging,
  NO_GATES,
  type RunConfig,
  type SourceConfig,
} from '../../src/config/run-config.ts';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';

/** How items are judged where no setting says otherwise. */
export const DEFAULT_JUDGING: Judging = {
  frames: 8,
  longAudio: 'windows',
  videoInterval: 5,
  videoFrames: 64,
};

/** A corpus that is recognised as it is found. */
export function corpusAt(path: string, more: Partial<SourceConfig> = {}): SourceConfig {
  const recognised = { textColumns: null, idColumn: null, encoding: null, layout: null, header: null };
  return { path, given: basename(path), audit: 'final', asStream: null, ...recognised, ...more };
}

/** The configuration of a run; what a test does not say is ordinary. */
export function runConfig(
  dir: string,
  sources: readonly SourceConfig[],
  more: Partial<RunConfig> = {},
): RunConfig {
  return {
    name: 'test',
    sources,
    guards: ['grpc://127.0.0.1:8001'],
    expectFingerprint: null,
    policy: DEFAULT_POLICY,
    output: { dir, formats: ['jsonl'], csvSeparator: ',', includeContent: false },
    store: `${dir}/.store`,
    reuse: false,
    trial: null,
    canaries: { from: 'off' },
    failIf: NO_GATES,
    allowErrors: false,
    allowEmpty: false,
    maxWaitMs: 1000,
    judging: DEFAULT_JUDGING,
    limits: DEFAULT_LIMITS,
    ...more,
  };
}
