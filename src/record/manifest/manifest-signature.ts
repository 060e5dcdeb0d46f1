import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';

const SIGNATURE = z.strictObject({
  schema: z.literal(1),
  algorithm: z.literal('ed25519'),
  key_id: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  signed: z.literal(RUN_FILES.manifestHash),
  signature: z.base64().length(88),
});

/** manifest.sig: an Ed25519 signature (RFC 8032) of the bytes of manifest.sha256. */
export type ManifestSignature = z.infer<typeof SIGNATURE>;

/**
 * `sha256:` and the SHA-256, in hex, of a public key's SubjectPublicKeyInfo in DER. For a private key, its public key
 * is used.
 */
export function keyId(key: KeyObject): string {
  const spki = (key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`;
}

/** Parses manifest.sig. Failure('internal') when it is malformed. */
export function parseSignature(bytes: Buffer): ManifestSignature {
  try {
    return SIGNATURE.parse(JSON.parse(bytes.toString()));
  } catch (cause) {
    throw new Failure('internal', `${RUN_FILES.manifestSignature} is not a valid signature file`, {
      cause,
    });
  }
}

/** Failure('internal') unless the signature of `hashLine` is valid for an Ed25519 public key. */
export function checkSignature(hashLine: string, found: ManifestSignature, publicKey: KeyObject): void {
  const expected = keyId(publicKey);
  if (found.key_id !== expected) {
    throw new Failure(
      'internal',
      `${RUN_FILES.manifestSignature} is by the key ${found.key_id}, not by ${expected}`,
    );
  }
  const signature = Buffer.from(found.signature, 'base64');
  if (!verify(null, Buffer.from(hashLine), publicKey, signature)) {
    throw new Failure(
      'internal',
      `${RUN_FILES.manifestSignature} is not a signature of ${RUN_FILES.manifestHash} by ${expected}`,
    );
  }
}
