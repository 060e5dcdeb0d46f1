import picomatch from 'picomatch';
import { Failure } from '../../domain/failure.ts';
import { encodePath } from '../../domain/file-path.ts';
import { escapeText } from '../../domain/text/escape-text.ts';
import { realPath } from '../../files/open-inside.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { isRunFileChanged } from '../../record/log/claim-path.ts';
import { assertNotPurged } from '../../record/purged.ts';
import { readRunFile } from '../../record/read-run-file.ts';
import { assertOwnRun } from './own-run.ts';
import { readRunKey, runKey } from './run-key.ts';
import { isSealed, sealRun } from './run-seal.ts';
import type { Run } from '../create-run.ts';
import { readRunRecord, runFileChanged } from '../open-run.ts';
import { storeFolderOf } from '../reuse/open-store.ts';

interface AdmitOptions {
  /** Path of this user's key file, see runKeyFile. */
  readonly keyFile: string | null;
  /** The user trusts the run although it was not created here. */
  readonly trusted: boolean;
  /** How the corpora of the run are used: its guards judge them, or they are copied for the user. */
  readonly work: 'judge' | 'export';
  /** Takes one line of text. */
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Maximum length shown per path or URL. None is omitted or shortened below this: it could be the one that matters. */
const MAX_CHARACTERS = 8192;

/**
 * Decides whether to work on a run directory: doing so reads the files that its run.json names, and sends them to the
 * guards that it names, or copies them. It is admitted if this user created it on this machine or trusts it now, which
 * is remembered. The owner of a directory proves nothing: unpacking an archive makes the user the owner.
 *
 * Failure('usage') for a run that was not created here, listing the files and guards that it names, and for a directory
 * that other users can write in; Failure('internal') when run.json was changed after the run began.
 */
export async function admitRun(
  runDir: string,
  { keyFile, trusted, work, say, signal }: AdmitOptions,
): Promise<void> {
  const record = await readRunRecord(runDir);
  // Opening it fails with a message that it is not a run directory.
  if (record === null) return;
  await assertNotPurged(runDir);
  await assertOwnRun(runDir);
  const runJson = await readRunFile(runDir, RUN_FILES.run);
  const known = await readRunKey(keyFile);
  if (known !== null && (await isSealed(runDir, runJson, known))) return;
  if (await isRunFileChanged(runDir, signal)) throw runFileChanged(runDir);
  const what = await dealingsOf({ dir: runDir, record }, work);
  if (!trusted) {
    throw new Failure(
      'usage',
      `this run was not created by you on this machine: ${what}; if that is what you want, say so with --trust-run`,
    );
  }
  say(`this run was not created by you on this machine, and is trusted because of --trust-run: ${what}`);
  const key = known ?? (await runKey(keyFile));
  if (key !== null) await sealRun(runDir, runJson, key);
}

/**
 * Human-readable summary of the files that a run reads and, if they are judged, of its guards and its verdict store.
 */
async function dealingsOf(run: Pick<Run, 'dir' | 'record'>, work: AdmitOptions['work']): Promise<string> {
  const { config } = run.record;
  const corpora: string[] = [];
  for (const { path } of config.sources) corpora.push(await corpusShown(path));
  if (work === 'export') return `it copies from ${corpora.join(', ')}`;
  const guards = config.guards.length === 0 ? 'the guards of a fleet' : config.guards.map(whole).join(', ');
  const store = whole(storeFolderOf(run));
  const judges = `it reads ${corpora.join(', ')} and sends that to ${guards}`;
  return `${judges}; it reuses verdicts of the store ${store} and adds its own`;
}

/** The path of a corpus, and its real path if links lead elsewhere. */
async function corpusShown(path: string): Promise<string> {
  const { base, isGlob } = picomatch.scan(path);
  const named = await realPath(path).catch(() => null);
  const real = named ?? (isGlob ? await realPath(base).catch(() => null) : null);
  const expected = encodePath(named === null ? base : path);
  return real === null || real === expected ? whole(path) : `${whole(path)} (which is ${whole(real)})`;
}

function whole(name: string): string {
  return escapeText(name, MAX_CHARACTERS);
}
