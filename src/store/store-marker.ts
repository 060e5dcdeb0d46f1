import { createHmac, timingSafeEqual } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isStoreDataFolder, STORE_FILES } from '../files/store-files.ts';

/** Changes with the form of the entries: a store of another form is built again. */
const FORM = 1;

const LABEL = 'guardsweep verdict store\0';

/** The content of `store.json`. */
export interface StoreMarker {
  readonly kind: 'guardsweep verdict store';
  readonly form: number;
  /** The host whose processes use the store: LMDB's locks do not reach further. */
  readonly host: string;
  /** Folder of the data, beside `store.json`. */
  readonly data: string;
  /** HMAC-SHA-256 under the user's run key, in hex; null for a user without one. */
  readonly seal: string | null;
}

/** The marker that a file holds; null for anything else. */
export function parseMarker(text: string): StoreMarker | null {
  let value: Partial<StoreMarker> | null;
  try {
    value = JSON.parse(text) as Partial<StoreMarker> | null;
  } catch {
    return null;
  }
  if (value?.kind !== 'guardsweep verdict store' || typeof value.form !== 'number') return null;
  const { form, host, data, seal = null } = value;
  if (typeof host !== 'string' || typeof data !== 'string' || !isStoreDataFolder(data)) return null;
  if (seal !== null && typeof seal !== 'string') return null;
  return { kind: value.kind, form, host, data, seal };
}

/** The marker for the data in one of a store's folders. Its file must exist. */
export async function makeMarker(dir: string, data: string, key: Buffer | null): Promise<StoreMarker> {
  const host = hostname();
  const seal = key === null ? null : (await sealOf(dir, data, host, key)).toString('hex');
  return { kind: 'guardsweep verdict store', form: FORM, host, data, seal };
}

/**
 * Whether the data is what this build and this user made. A store decides what is judged, so one that came with an
 * archive or from a backup is not trusted. The seal covers the file's inode, which such a copy does not have.
 */
export async function isOwnMarker(dir: string, marker: StoreMarker, key: Buffer | null): Promise<boolean> {
  if (marker.form !== FORM) return false;
  if (key === null || marker.seal === null) return key === null && marker.seal === null;
  const expected = await sealOf(dir, marker.data, marker.host, key).catch(() => null);
  const found = Buffer.from(marker.seal, 'hex');
  return expected !== null && found.length === expected.length && timingSafeEqual(found, expected);
}

async function sealOf(dir: string, data: string, host: string, key: Buffer): Promise<Buffer> {
  const { ino } = await stat(join(dir, data, STORE_FILES.data), { bigint: true });
  return createHmac('sha256', key)
    .update(LABEL)
    .update(JSON.stringify([FORM, host, data, String(ino)]))
    .digest();
}
