import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import type { Chain } from '../log/chain.ts';
import { readNotedHeads } from '../head-file.ts';
import type { KeyObject } from 'node:crypto';
import { NotRegularFileError } from '../../files/open-file.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { readRunFile, readRunFileIfThere } from '../read-run-file.ts';
import { checkSignature, parseSignature } from '../manifest/manifest-signature.ts';
import { openReveals } from '../reviews/reveals-file.ts';
import { ReviewHistory } from '../reviews/review-history.ts';

export interface VerifyOptions {
  /** Chain head kept elsewhere: 64 hex digits. */
  readonly head?: string;
  /** Path of a file with chain heads, as `--head-file` writes it. */
  readonly headFile?: string;
  /** Ed25519 public key; the manifest must be signed with its private key. */
  readonly publicKey?: KeyObject;
  readonly signal?: AbortSignal;
}

/** Failure('internal') unless the chain ends in this head, which was kept elsewhere. */
export function checkHead(chain: Chain, expected: string): void {
  const { head } = chain.position;
  if (expected.toLowerCase() === head) return;
  const earlier = chain.closings.find(({ position }) => position.head === expected.toLowerCase());
  if (earlier === undefined) throw broken(`the chain head is ${head}, not the expected one`);
  throw broken(
    `the chain head is ${head}: the expected head is that of pass ${earlier.closes}, finished at ${earlier.at}, and the log continues after it`,
  );
}

/**
 * Checks a chain against the run's heads in a head file: it must end in the newest and contain the others.
 * Failure('internal') when it does not, or the file has no head of the run; Failure('usage') when the file cannot be
 * read.
 */
export async function checkNotedHeads(
  chain: Chain,
  run: string,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const noted = await readNotedHeads(path, run, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    const { code } = cause as NodeJS.ErrnoException;
    throw new Failure('usage', `--head-file: ${path} cannot be read (${code ?? 'unknown error'})`, { cause });
  });
  const last = noted.at(-1);
  if (last === undefined) throw broken(`${basename(path)} has no head of the run ${run}`);
  checkHead(chain, last.head);
  const held = new Set(chain.closings.map(({ position }) => position.head));
  const gone = noted.find(({ head }) => !held.has(head));
  if (gone === undefined) return;
  throw broken(`the chain lacks the head of pass ${gone.pass}, recorded at ${gone.at}`);
}

function broken(what: string): Failure {
  return new Failure('internal', what);
}

/** A record's signature: absent, present but not checked, or valid for the given key. */
export type SignatureState = 'none' | 'unchecked' | 'valid';

/**
 * Checks the signature of a manifest: with a public key, there must be a valid one; without a key, only its format is
 * checked. Failure('internal') when it is missing or invalid.
 */
export async function verifySignature(runDir: string, publicKey: KeyObject | null): Promise<SignatureState> {
  const bytes = await readRunFileIfThere(runDir, RUN_FILES.manifestSignature);
  if (bytes === null && publicKey === null) return 'none';
  if (bytes === null) {
    throw new Failure('internal', `${RUN_FILES.manifestSignature} is missing: the record is not signed`);
  }
  const signature = parseSignature(bytes);
  if (publicKey === null) return 'unchecked';
  checkSignature((await readRunFile(runDir, RUN_FILES.manifestHash)).toString(), signature, publicKey);
  return 'valid';
}

/**
 * Checks the chain of people's decisions, next to the run, and the chain of what they were shown in it, if they exist:
 * every line must follow from those before it. Lines that were cut off the end are not detected. Failure('internal')
 * for a chain that fails verification.
 */
export async function checkReviews(runDir: string, signal: AbortSignal): Promise<void> {
  await ReviewHistory.read(runDir, signal);
  const folder = join(runDir, RUN_FILES.review);
  const found = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return null;
  });
  if (found === null) return;
  if (!found.isDirectory()) throw new NotRegularFileError(folder);
  await (await openReveals(runDir)).read(signal);
}
