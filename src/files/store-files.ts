/** Names of the files of a verdict store. */
export const STORE_FILES = {
  /** Makes a folder a store, and names the folder in it that holds the data. */
  marker: 'store.json',
  /** In the folder of the data: LMDB's file, and the file of its locks. */
  data: 'data.mdb',
  lock: 'data.mdb-lock',
  /** What the data was when it was last closed. */
  closed: 'closed.json',
} as const;

/** Beginning of the names of files by which processes show that they use the data. */
export const STORE_USER = 'user-';

/** Name under which a file is written before it is renamed. */
export function temporaryStoreFile(name: string): string {
  return `${name}.tmp`;
}

/** Whether a name is one that the folder of the data may have. */
export function isStoreDataFolder(name: string): boolean {
  return /^data-\d{1,10}-[0-9a-f]{8}$/.test(name);
}
