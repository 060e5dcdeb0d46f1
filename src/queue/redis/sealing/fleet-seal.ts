import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, type KeyObject } from 'node:crypto';

/** Where a sealed text stands in Redis. It opens nowhere else. */
export interface SealedPlace {
  readonly run: string;
  /** Name of the queue, or of the kind of key. */
  readonly folder: string;
  /** Name within it. For a job, it holds run, pass, shard and epoch of the feeder. */
  readonly name: string;
}

/** Begins every derivation and every binding; changes with the form. */
const FORM = 'guardsweep-fleet-1';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** NIST SP 800-38D: 96 bits, at random, for at most 2^32 texts under one key; hence a key for each run. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 8;
/** Derived keys that are kept. A run that is out of them costs a derivation, some ten microseconds. */
const MAX_KEPT = 64;

/**
 * Seals what travels through Redis, with keys derived from the fleet's (HKDF-SHA-256, RFC 5869): whoever has not the
 * key can neither read nor make it, nor move it to another place. Whoever has the key can do all of it.
 */
export class FleetSeal {
  /** Tells whether two processes have the same key, and nothing else of it: 16 hex digits. */
  readonly keyId: string;
  readonly #key: KeyObject;
  /** By run, the least recently used first. */
  readonly #kept = new Map<string, Buffer>();

  constructor(key: KeyObject) {
    this.#key = key;
    this.keyId = derived(key, ['key id'], KEY_ID_BYTES).toString('hex');
  }

  /** Base64 of nonce, AES-256-GCM ciphertext and tag. */
  seal(place: SealedPlace, text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#keyOf(place.run), nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(binding(place));
    const body = cipher.update(text, 'utf8');
    return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()]).toString('base64');
  }

  /** The text that was sealed for that place under the same key; null for anything else. */
  open(place: SealedPlace, sealed: string): string | null {
    const bytes = Buffer.from(sealed, 'base64');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#keyOf(place.run), nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(binding(place));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const body = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    try {
      // Compares the tag in constant time, and throws when it is another.
      return Buffer.concat([body, decipher.final()]).toString('utf8');
    } catch {
      return null;
    }
  }

  #keyOf(run: string): Buffer {
    const key = this.#kept.get(run) ?? derived(this.#key, ['content', run], KEY_BYTES);
    this.#kept.delete(run);
    this.#kept.set(run, key);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return key;
  }
}

function derived(key: KeyObject, purpose: readonly string[], bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', fields([FORM, ...purpose]), bytes));
}

function binding({ run, folder, name }: SealedPlace): Buffer {
  return fields([FORM, run, folder, name]);
}

/** Netstrings: no two lists of fields have the same bytes. */
function fields(values: readonly string[]): Buffer {
  return Buffer.from(values.map((value) => `${Buffer.byteLength(value)}:${value},`).join(''));
}
