/** Names of the files of a verdict store. */
export const STORE_FILES = {
  /** Marks a folder as a store and names the folder in it that contains the data. */
  marker: 'store.json',
  /** In the data folder: LMDB's file and its lock file. */
  data: 'data.mdb',
  lock: 'data.mdb-lock',
  /** State of the data when it was last closed. */
  closed: 'closed.json',
} as const;

/** Prefix of marker files that show which processes use the data. */
export const STORE_USER = 'user-';

/** Name under which a file is written before it is renamed. */
export function temporaryStoreFile(name: string): string {
  return `${name}.tmp`;
}

/** Whether a name is valid for the data folder. */
export function isStoreDataFolder(name: string): boolean {
  return /^data-\d{1,10}-[0-9a-f]{8}$/.test(name);
}
