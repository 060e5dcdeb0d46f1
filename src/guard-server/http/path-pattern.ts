import { HttpError } from './status.ts';

/** Matches the paths of one route: `/v2/models/{model}/ready`. A variable segment matches any segment but an empty one. */
export class PathPattern {
  readonly #segments: readonly string[];

  constructor(pattern: string) {
    this.#segments = pattern.split('/');
  }

  /**
   * The variable segments of a path, decoded; null: the path does not match.
   * Throws HttpError 400 when they are not valid percent-encoding.
   */
  match(path: readonly string[]): ReadonlyMap<string, string> | null {
    if (path.length !== this.#segments.length) return null;
    const variables = new Map<string, string>();
    for (const [index, segment] of this.#segments.entries()) {
      const given = path[index]!;
      if (segment.startsWith('{')) {
        if (given === '') return null;
        variables.set(segment.slice(1, -1), given);
      } else if (segment !== given) return null;
    }
    return new Map(Array.from(variables, ([name, value]) => [name, decoded(value)]));
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new HttpError(400, 'the path is not valid percent-encoding');
  }
}
