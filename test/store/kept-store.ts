import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Judgement } from '../../src/domain/outcome.ts';
import { VerdictStore, type StoreOptions } from '../../src/store/verdict-store.ts';
import type { JudgedVerdicts } from '../../src/store/verdicts.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { judgement as judged, MODEL } from '../helpers/moderation.ts';

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

export const JUDGED = { fingerprint: MODEL.id, judging: '{"frames":4}' };

export function judgement(): Judgement {
  return judged(Math.fround(0.93), {
    subcategoryScores: { hate: Math.fround(0.9), privacy: 0.25 },
    subcategoryFlags: ['hate', 'a category of its own'],
    latencyMs: 12.34,
    attempts: 2,
    cacheUsage: [0, 1, 300, 70_000, -1, 0, 0, 0],
    coverage: { unit: 'seconds', judged: 300, total: 1234.5, worst_at: 30 },
  }).judgement!;
}

/** The same as it is found: it took no attempts. */
export const FOUND: Judgement = { ...judgement(), attempts: 0, cacheUsage: null };

export function verdictsOf(run: string, contents: readonly string[]): JudgedVerdicts {
  const verdicts = contents.map((contentSha256) => ({ contentSha256, judgement: judgement() }));
  return { run, judging: JUDGED.judging, fingerprints: [MODEL], verdicts };
}
