import picomatch from 'picomatch';

/**
 * Returns a function that matches paths below the fixed part of a glob. Names that begin with a dot match like others, as
 * in folders: a name must not keep a file from being judged.
 */
export function globMatcher(glob: string): (relative: string) => boolean {
  const matches = picomatch(glob, { dot: true });
  return (relative) => matches(relative);
}
