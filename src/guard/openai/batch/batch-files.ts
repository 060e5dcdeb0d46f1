/** Files in a folder that `batch export` writes, beside the request files. */
export const BATCH_FILES = {
  /** The run that the requests are of. */
  batch: 'batch.json',
  /** The beginnings of the ids of all requests. */
  keys: 'requests.keys',
} as const;
