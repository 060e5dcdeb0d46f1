import type { KeyObject } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { readRunFile, readRunFileIfThere } from '../read-run-file.ts';
import { checkSignature, parseSignature } from '../manifest/manifest-signature.ts';

/** A record's signature: absent, present but not checked, or valid for the given key. */
export type SignatureState = 'none' | 'unchecked' | 'valid';

/**
 * Checks the signature of a manifest: with a public key there must be a valid one, without a key only its form is
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
