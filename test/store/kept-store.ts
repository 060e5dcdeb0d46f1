import { hash } from 'node:crypto';
import { join } from 'node:path';
import { makeFingerprint } from '../../src/domain/fingerprint.ts';
import type { Judgement } from '../../src/domain/outcome.ts';
import { VerdictStore, type StoreOptions } from '../../src/store/verdict-store.ts';
import type { JudgedVerdicts } from '../../src/store/verdicts.ts';
import { temporaryFolder } from '../helpers/cli.ts';

/** A place for a store, with what it says, that is removed when the test is over. `records` is what a damaged store is built from. */
export async function keptStore(records: readonly JudgedVerdicts[] = []) {
  const dir = join(await temporaryFolder(), '.store');
  const said: string[] = [];
  const options: StoreOptions = {
    key: Buffer.alloc(32, 7),
    recorded: async function* () {
      yield* records;
    },
    say: (line) => void said.push(line),
    signal: new AbortController().signal,
  };
  const open = async (): Promise<VerdictStore> => {
    const store = await VerdictStore.open(dir, options);
    if (store === null) throw new Error(said.join('\n'));
    return store;
  };
  return { ...options, dir, said, open };
}

export function content(text: string | number): string {
  return hash('sha256', String(text));
}

export const MODEL = makeFingerprint([['model', '1'.repeat(64)]])!;
export const JUDGED = { fingerprint: MODEL.id, judging: '{"frames":4}' };

export function judgement(): Judgement {
  return {
    ...{ score: Math.fround(0.93), flagged: true, subcategoryFlags: ['hate', 'a category of its own'] },
    ...{ subcategoryScores: { hate: Math.fround(0.9), privacy: 0.25 }, fingerprint: MODEL.id },
    ...{ endpoint: 'grpc://guard:8001', latencyMs: 12.34, attempts: 2, stream: null },
    ...{ cacheUsage: [0, 1, 300, 70_000, -1, 0, 0, 0], moderatedAt: '2026-11-21T02:14:07.031Z' },
    coverage: { unit: 'seconds', judged: 300, total: 1234.5, worst_at: 30 },
  };
}

/** The same as it is found: it took no attempts. */
export const FOUND: Judgement = { ...judgement(), attempts: 0, cacheUsage: null };

export function verdictsOf(run: string, contents: readonly string[]): JudgedVerdicts {
  return {
    ...{ run, judging: JUDGED.judging, fingerprints: [MODEL] },
    verdicts: contents.map((contentSha256) => ({ contentSha256, judgement: judgement() })),
  };
}
