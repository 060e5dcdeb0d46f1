/** An object, or all objects with a key prefix, in object storage: `s3://bucket/key`. Keys are names, never paths. */
export interface ObjectPath {
  readonly bucket: string;
  readonly key: string;
}

const OBJECT_PATH = /^s3:\/\/([a-z0-9][a-z0-9._-]{1,61}[a-z0-9])(?:\/(.*))?$/s;

/** Whether a path names object storage rather than a file. */
export function isObjectPath(path: string): boolean {
  return path.startsWith('s3://');
}

/** Parses a path in object storage; null if it has no valid bucket name. */
export function parseObjectPath(path: string): ObjectPath | null {
  const match = OBJECT_PATH.exec(path);
  return match && { bucket: match[1]!, key: match[2] ?? '' };
}
