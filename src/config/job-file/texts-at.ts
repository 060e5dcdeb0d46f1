import { keyName } from '../yaml/check-shape.ts';
import type { KeyPath } from '../yaml/yaml-file.ts';
import type { Texts } from '../settings/setting.ts';
import type { JobFile } from './job-file.ts';

type Scalar = string | number | boolean;

/**
 * The value or list of values at a path of a job file, as text, each with its place; null where there is none. A mapping is
 * read as a list of `key=value`.
 */
export function textsAt({ yaml }: JobFile, path: KeyPath): Texts | null {
  let node: unknown = yaml.data;
  for (const step of path) {
    if (typeof node !== 'object' || node === null) return null;
    node = Reflect.get(node, step) as unknown;
  }
  if (node === undefined) return null;
  // The file has been checked against its schema, in which settings are scalars, lists of them, or mappings to them.
  const located = (at: KeyPath, value: Scalar) => ({
    value: String(value),
    place: `${yaml.valueAt(at)}: ${keyName(at)}`,
  });
  if (typeof node !== 'object' || node === null) return [located(path, node as Scalar)];
  if (!Array.isArray(node)) {
    const [first, ...more] = Object.entries(node).map(([key, value]: [string, Scalar]) =>
      located([...path, key], `${key}=${value}`),
    );
    return first === undefined ? null : [first, ...more];
  }
  const [first, ...more] = node.map((value: Scalar, index) => located([...path, index], value));
  return first === undefined ? null : [first, ...more];
}
