import { sign, type KeyObject } from 'node:crypto';
import { RUN_FILES } from '../../files/run-files.ts';
import { keyId, type ManifestSignature } from '../../record/manifest/manifest-signature.ts';

/** The text of manifest.sig: signs `hashLine`, the text of manifest.sha256, with an Ed25519 private key. */
export function signatureText(hashLine: string, key: KeyObject): string {
  const value: ManifestSignature = {
    schema: 1,
    algorithm: 'ed25519',
    key_id: keyId(key),
    signed: RUN_FILES.manifestHash,
    signature: sign(null, Buffer.from(hashLine), key).toString('base64'),
  };
  return `${JSON.stringify(value)}\n`;
}
