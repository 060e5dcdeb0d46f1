import { hash } from 'node:crypto';
import { join } from 'node:path';
import { VerdictStore, type StoreOptions } from '../../src/store/verdict-store.ts';
import type { JudgedVerdicts } from '../../src/store/verdicts.ts';
import { temporaryFolder } from '../helpers/cli.ts';

/** A place for a store, with what it says. */
export interface KeptStore extends StoreOptions {
  readonly dir: string;
  readonly said: string[];
  readonly open: () => Promise<VerdictStore>;
}

/** A place for a store that is removed when the test is over. `records` is what a damaged store is built from. */
export async function keptStore(records: readonly JudgedVerdicts[] = []): Promise<KeptStore> {
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
