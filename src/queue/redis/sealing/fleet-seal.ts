import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, type KeyObject } from 'node:crypto';

/** The location of a sealed text in Redis. It can only be opened there: the location is authenticated (AAD). */
export interface SealedPlace {
  readonly run: string;
  /** Name of the queue, or of the kind of key. */
  readonly folder: string;
  /** Name within the folder. The name of a job contains run, pass, shard and epoch of the feeder. */
  readonly name: string;
}

/** First field of every key derivation and AAD; changes with the format. */
const FORM = 'guardsweep-fleet-1';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** NIST SP 800-38D: 96 random bits, for at most 2^32 texts per key. Hence one key per run. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 8;
/** Max cached keys. A cache miss costs one derivation, about ten microseconds. */
const MAX_CACHED_KEYS = 64;

/**
 * Seals values in Redis with keys derived from the fleet key (HKDF-SHA-256, RFC 5869). Without the fleet key, sealed
 * values cannot be read, forged, or moved to another location. With it, all of that is possible.
 */
export class FleetSeal {
  /** 16 hex digits that are equal if two processes have the same key, and reveal nothing else about it. */
  readonly keyId: string;
  readonly #key: KeyObject;
  /** Derived keys by run, the least recently used first. */
  readonly #keys = new Map<string, Buffer>();

  constructor(key: KeyObject) {
    this.#key = key;
    this.keyId = derived(key, ['key id'], KEY_ID_BYTES).toString('hex');
  }

  /** Nonce, AES-256-GCM ciphertext and tag. */
  sealBytes(place: SealedPlace, bytes: Uint8Array): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#keyOf(place.run), nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(binding(place));
    const body = cipher.update(bytes);
    return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()]);
  }

  /** Seals text, as base64. */
  seal(place: SealedPlace, text: string): string {
    return this.sealBytes(place, Buffer.from(text)).toString('base64');
  }

  /** Opens a value sealed for this location with the same key; null for anything else. */
  openBytes(place: SealedPlace, bytes: Buffer): Buffer | null {
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#keyOf(place.run), nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(binding(place));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const body = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    try {
      // Compares the tag in constant time and throws if it differs.
      return Buffer.concat([body, decipher.final()]);
    } catch {
      return null;
    }
  }

  /** Opens a text sealed by `seal`. */
  open(place: SealedPlace, sealed: string): string | null {
    return this.openBytes(place, Buffer.from(sealed, 'base64'))?.toString() ?? null;
  }

  #keyOf(run: string): Buffer {
    const key = this.#keys.get(run) ?? derived(this.#key, ['content', run], KEY_BYTES);
    this.#keys.delete(run);
    this.#keys.set(run, key);
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > MAX_CACHED_KEYS && oldest !== undefined) this.#keys.delete(oldest);
    return key;
  }
}

function derived(key: KeyObject, purpose: readonly string[], bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', fields([FORM, ...purpose]), bytes));
}

function binding({ run, folder, name }: SealedPlace): Buffer {
  return fields([FORM, run, folder, name]);
}

/** Encodes fields as netstrings: different lists never have the same bytes. */
function fields(values: readonly string[]): Buffer {
  return Buffer.from(values.map((value) => `${Buffer.byteLength(value)}:${value},`).join(''));
}
