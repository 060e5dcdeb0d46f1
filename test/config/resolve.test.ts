import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Flags } from '../../src/config/settings/given.ts';
import { folderWith } from '../helpers/cli.ts';
import { corpusAt, runConfig } from '../helpers/run-config.ts';
import { type Given, resolved } from './workspace.ts';

const JOB = `
name: from-job
sources:
  - path: ./data/a.csv
    text: [subject, body]
    id: key
    audit: every-turn
    encoding: Windows-1252
    layout: csv
  - path: ./data
guard: [grpc://job:9001, "embedded:"]
policy: policies/p.yaml
output: { dir: ../out, formats: [jsonl] }
store: ../verdicts
reuse: false
failIf: { flaggedRate: 0.01, errorRate: 0.5, uncoveredRate: 0.2, categories: { hate: 0.1, privacy: 0 } }
sample: 2.5%
seed: 7
expectFingerprint: ${'AB'.repeat(32)}
allowErrors: true
allowEmpty: true
frames: 3
longAudio: truncate
videoInterval: 30
videoFrames: 9
maxWait: 1.5h
`;

const files = {
  'a.csv': 'text\nhello\n',
  'jobs/data/a.csv': 'text\nhello\n',
  'jobs/job.yaml': JOB,
  'jobs/policies/p.yaml': 'thresholds: { default: { review: 0.5, block: 0.8 }, hate: { review: 0.4 } }\n',
  'other.yaml': 'allowFlagged: true\n',
};

describe('a run’s configuration', () => {
  it('needs nothing but a path', async () => {
    const cwd = await folderWith(files);
    const usual = runConfig(join(cwd, 'runs'), [corpusAt(join(cwd, 'a.csv'))]);
    expect(await resolved({ cwd })).toEqual({
      ...usual,
      name: 'a',
      output: { ...usual.output, formats: ['jsonl', 'csv'] },
      guards: ['embedded:'],
      policy: { thresholds: null, allowFlagged: false, allowPartial: false },
      reuse: true,
      canaries: { from: 'built-in' },
      failIf: { flaggedRate: null, blockedRate: null, errorRate: null, uncoveredRate: null, categories: {} },
      maxWaitMs: 600_000,
      limits: {
        itemBytes: 16_777_216,
        shardItems: 512,
        shardBytes: 1_048_576,
        mediaBytes: 209_715_200,
        mediaShardItems: 32,
        mediaShardBytes: 67_108_864,
        unpack: { depth: 3, parts: 10_000, bytes: 1024 ** 3, ratio: 200 },
      },
    });
  });

  it('takes everything from a job file, its paths relative to the file', async () => {
    const cwd = await folderWith(files);
    const config = await resolved({ cwd, paths: ['jobs/job.yaml'] });
    expect(config).toMatchObject({
      name: 'from-job',
      sources: [
        {
          path: join(cwd, 'jobs/data/a.csv'),
          given: './data/a.csv',
          audit: 'every-turn',
          asStream: null,
          textColumns: ['subject', 'body'],
          idColumn: 'key',
          encoding: 'windows-1252',
          layout: 'csv',
        },
        { path: join(cwd, 'jobs/data'), textColumns: null, audit: 'final' },
      ],
      guards: ['grpc://job:9001', 'embedded:'],
      expectFingerprint: `sha256:${'ab'.repeat(32)}`,
      output: { dir: join(cwd, 'out'), formats: ['jsonl'], csvSeparator: ',', includeContent: false },
      store: join(cwd, 'verdicts'),
      reuse: false,
      trial: { limit: null, sample: 0.025, seed: 7 },
      failIf: {
        flaggedRate: 0.01,
        blockedRate: null,
        errorRate: 0.5,
        uncoveredRate: 0.2,
        categories: { hate: 0.1, privacy: 0 },
      },
      allowErrors: true,
      allowEmpty: true,
      maxWaitMs: 5_400_000,
    });
  });

  it('lets every flag win over the job file, relative to where the user stands', async () => {
    const cwd = await folderWith(files);
    const ofFiles = { idColumn: 'no', encoding: 'utf-8', layout: 'jsonl', audit: 'final' } as const;
    const flags: Flags = {
      name: 'from-flag',
      out: 'elsewhere',
      guard: ['grpcs://Flag'],
      policy: 'other.yaml',
      format: 'csv',
      maxWait: '30s',
      failIf: ['flagged-rate=0.2', 'hate=0.3'],
      frames: '64',
      textColumn: ['title'],
      trustDeclared: true,
      ...ofFiles,
    };
    const env = { GUARD_URL: 'grpc://env:8001' };
    const config = await resolved({ cwd, paths: ['jobs/job.yaml'], flags, env });
    expect(config).toMatchObject({
      name: 'from-flag',
      guards: ['grpcs://flag:8001'],
      policy: { thresholds: null, allowFlagged: true },
      output: { dir: join(cwd, 'elsewhere'), formats: ['jsonl', 'csv'] },
      failIf: { flaggedRate: 0.2, errorRate: 0.5, categories: { hate: 0.3, privacy: 0 } },
      trustDeclared: true,
      maxWaitMs: 30_000,
      judging: { frames: 64, longAudio: 'truncate', videoInterval: 30, videoFrames: 9 },
    });
    const ofFlags = { textColumns: ['title'], ...ofFiles };
    expect(config.sources).toMatchObject([ofFlags, ofFlags]);
  });

  it('takes guards from GUARD_URL only if neither a flag nor the job file names one', async () => {
    const cwd = await folderWith({ ...files, 'bare.yml': 'sources: [{ path: a.csv }]\n' });
    const env = { GUARD_URL: 'grpc://one, grpc://two:9 ,grpcs://[::1]:8001/' };
    const fromEnv = ['grpc://one:8001', 'grpc://two:9', 'grpcs://[::1]:8001'];
    const guards = async (given: Partial<Given>) => (await resolved({ cwd, env, ...given })).guards;
    expect(await guards({})).toEqual(fromEnv);
    expect(await guards({ paths: ['bare.yml'] })).toEqual(fromEnv);
    expect(await guards({ paths: ['jobs/job.yaml'] })).toEqual(['grpc://job:9001', 'embedded:']);
    expect(await guards({ flags: { guard: ['embedded:'] } })).toEqual(['embedded:']);
    expect(await guards({ env: { GUARD_URL: ' ' } })).toEqual(['embedded:']);
  });

  it.each([
    ['OpenAI+https://API.openai.com/', 'openai+https://api.openai.com'],
    [
      'openai+http://gpu-1?family=llama-guard&model=meta-llama%2FLlama-Guard-3-8B',
      'openai+http://gpu-1:8000?model=meta-llama/Llama-Guard-3-8B&family=llama-guard',
    ],
    ['https://Guard.Example/', 'https://guard.example'],
    ['KServe+HTTP://GPU-1', 'kserve+http://gpu-1:8000'],
    ['http://[::1]:9001/', 'http://[::1]:9001'],
  ])('takes the guard %s as %s', async (given, taken) => {
    const cwd = await folderWith({ 'a.csv': '' });
    expect((await resolved({ cwd, flags: { guard: [given] } })).guards).toEqual([taken]);
  });

  it('substitutes nothing from the environment into a job file', async () => {
    const cwd = await folderWith({ 'job.yaml': 'sources: [{ path: "./*.csv", text: "${HOME} $HOME" }]\n' });
    const config = await resolved({ cwd, paths: ['job.yaml'], env: { HOME: '/root' } });
    expect(config.sources[0]).toMatchObject({ path: join(cwd, '*.csv'), textColumns: ['${HOME} $HOME'] });
  });
});

it('a policy gives a category what it leaves open from default', async () => {
  const flags = { policy: 'jobs/policies/p.yaml' };
  const { policy } = await resolved({ cwd: await folderWith(files), flags });
  const hate = { review: 0.4, block: 0.8 };
  expect(policy.thresholds).toEqual({ default: { review: 0.5, block: 0.8 }, hate });
});
