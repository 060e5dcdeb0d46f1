import picomatch from 'picomatch';

/**
 * Tells which paths below its fixed part a glob matches. Names that begin with a dot are matched like others, as in a folder:
 * a name must not keep a file from being judged.
 */
export function globMatcher(glob: string): (relative: string) => boolean {
  const matches = picomatch(glob, { dot: true });
  return (relative) => matches(relative);
}
