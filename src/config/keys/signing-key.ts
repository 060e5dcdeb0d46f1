import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readKeyFile } from './key-file.ts';
import { usageError } from '../usage-error.ts';
import { SIGNING_KEY } from '../settings/entries/environment.ts';

const VARIABLE = SIGNING_KEY.name;
const MAX_BYTES = 16 * 1024;
const HOW_TO_MAKE = 'openssl genpkey -algorithm ed25519 makes one';

/**
 * Reads the Ed25519 private key that signs manifests: PEM (PKCS#8) in `GUARDSWEEP_SIGNING_KEY`; null if it is not set.
 * Failure('usage') if it is not such a key. Never quotes the key.
 */
export function readSigningKey(env: NodeJS.ProcessEnv): KeyObject | null {
  const pem = env[VARIABLE] ?? '';
  return pem === '' ? null : privateKeyFrom(pem);
}

/** Reads the Ed25519 public key in a PEM file. `place` is what named it. Failure('usage') if it is not a public key. */
export async function readPublicKey(path: string, place: string): Promise<KeyObject> {
  const pem = await readKeyFile(path, { place, maxBytes: MAX_BYTES, secret: false });
  let key: KeyObject;
  try {
    // createPublicKey also accepts a private key, which a verifier should not have.
    if (pem.includes('PRIVATE KEY')) throw new Error('a private key');
    key = createPublicKey(pem);
  } catch (cause) {
    throw usageError(place, `${path} holds no public key in PEM; openssl pkey -pubout writes one`, cause);
  }
  if (key.asymmetricKeyType !== 'ed25519') throw usageError(place, `${path} holds a key that is not Ed25519`);
  return key;
}

function privateKeyFrom(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // The cause may quote secret text.
    throw usageError(VARIABLE, `expected an unencrypted private key in PEM (PKCS#8); ${HOW_TO_MAKE}`);
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw usageError(VARIABLE, `the key is not Ed25519; ${HOW_TO_MAKE}`);
  return key;
}
