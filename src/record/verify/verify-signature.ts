import type { KeyObject } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { readRunFile } from '../read-run-file.ts';
import { checkSignature, parseSignature } from '../manifest/manifest-signature.ts';

/** What is known of a record's signature: there is none, it was not checked, or it is by the key that was given. */
export type SignatureState = 'none' | 'unchecked' | 'valid';

/**
 * Checks the signature of a manifest, which a public key makes necessary; without one, only its form. Failure('internal')
 * when it is missing or does not hold.
 */
export async function verifySignature(runDir: string, publicKey: KeyObject | null): Promise<SignatureState> {
  const bytes = await readIfThere(runDir);
  if (bytes === null && publicKey === null) return 'none';
  if (bytes === null) {
    throw new Failure('internal', `${RUN_FILES.manifestSignature} is missing: the record is not signed`);
  }
  const signature = parseSignature(bytes);
  if (publicKey === null) return 'unchecked';
  checkSignature((await readRunFile(runDir, RUN_FILES.manifestHash)).toString(), signature, publicKey);
  return 'valid';
}

async function readIfThere(runDir: string): Promise<Buffer | null> {
  try {
    return await readRunFile(runDir, RUN_FILES.manifestSignature);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
