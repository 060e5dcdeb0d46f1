import type { OutcomeLine } from '../../domain/outcome.ts';
import type { ItemRequest } from '../../domain/request.ts';
import { abortable } from '../../flow/abortable.ts';
import { realPath } from '../../files/open-inside.ts';
import type { SourceSnapshot } from '../../ingest/sources/sources-file.ts';
import type { Restrictions } from '../../record/restricted/restrictions.ts';
import type { ContentProblem } from '../api/items.ts';
import type { OpenedRun, OpenedRuns } from './opened-runs.ts';
import { RestrictedContents } from './restricted-contents.ts';
import type { AskRunItems, RunItems } from './run-items.ts';

/** The folders that content may be read from. */
interface ReadableFolders {
  /** Whether a path, of which all links are resolved, is in one of them. */
  containsReal(real: string): boolean;
}

interface GateParts {
  readonly runs: OpenedRuns;
  readonly items: AskRunItems;
  readonly roots: ReadableFolders;
  /** Aborted when the dashboard ends. */
  readonly closing: AbortSignal;
}

/** An item whose source may be read. */
export interface Admitted {
  readonly opened: OpenedRun;
  readonly line: OutcomeLine;
  readonly source: SourceSnapshot;
  /** Whether a part of a content must not be shown. */
  readonly isRestricted: (request: ItemRequest) => boolean;
  readonly tippedBy: number | null;
}

/** Why it may not. `message` replaces the usual one. */
interface Refused {
  readonly problem: ContentProblem;
  readonly message?: string;
}

interface CollectedContents {
  /** How many contents had been released then. */
  readonly releases: number;
  readonly contents: Promise<RestrictedContents>;
}

/** Decides whether the source of an item may be read, before anything of it is. */
export class ContentGate {
  readonly #parts: GateParts;
  readonly #restricted = new WeakMap<RunItems, CollectedContents>();

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /** Null for an item without an outcome. */
  async admit(runDir: string, seq: number, signal: AbortSignal): Promise<Admitted | Refused | null> {
    const opened = await this.#parts.runs.open(runDir, signal);
    if (opened === null) return { problem: 'not_your_run' };
    const known = await this.#parts.items(
      runDir,
      (items, stale) => this.#known(items, stale, { seq, opened, signal }),
      signal,
    );
    if (known === null || 'problem' in known) return known;
    const problem = await this.#problemOf(known.source, opened.run.sources);
    return problem === null ? known : { problem };
  }

  /** What the record says of an item. */
  async #known(
    items: RunItems,
    stale: boolean,
    {
      seq,
      opened,
      signal,
    }: { readonly seq: number; readonly opened: OpenedRun; readonly signal: AbortSignal },
  ): Promise<Admitted | Refused | null> {
    const line = await items.line(seq, signal);
    if (line === null) return null;
    const restrictions = await items.restrictions(signal);
    if (restrictions.by(line) !== null) return { problem: 'restricted' };
    const { sources } = opened.run;
    const source = sources.find(({ path }) => path === line.source.path) ?? null;
    const restricted = await abortable(this.#restrictedOf(items, sources, restrictions), signal);
    const found = await items.foundByPeople(signal);
    const byPath = sourcesOf(found, sources);
    for (const each of found) restricted.add(each, byPath.get(each.source.path) ?? null);
    if (restricted.holds(line, source)) return { problem: 'restricted' };
    if (line.error !== null && (stale || line.content_sha256 === null)) {
      // By now it may have been judged again, and be restricted.
      const what = stale ? 'judged' : 'read when it was to be judged';
      return { problem: 'not_readable', message: `It could not be ${what}: ${line.error.message}.` };
    }
    if (source === null) return { problem: 'not_readable' };
    const tippedBy = line.turn === null ? null : await items.tippedBy(line, signal);
    const isRestricted = (request: ItemRequest): boolean =>
      restricted.holdsPartOf(request) || restrictions.holds(request);
    return { opened, line, source, isRestricted, tippedBy };
  }

  /**
   * Why the files of an item may not be read, or cannot be. They may be swapped afterwards: what is read then is shown only
   * if it is what was judged.
   */
  async #problemOf(
    { absolute, sidecar, manifest }: SourceSnapshot,
    sources: readonly SourceSnapshot[],
  ): Promise<ContentProblem | null> {
    const list = typeof manifest === 'number' ? sources[manifest]! : manifest;
    for (const path of [absolute, sidecar?.absolute, list?.absolute]) {
      if (path === undefined) continue;
      let real: string;
      try {
        real = await realPath(path);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return code === 'ENOENT' || code === 'ENOTDIR' ? 'source_missing' : 'not_readable';
      }
      if (!this.#parts.roots.containsReal(real)) return 'outside_root';
    }
    return null;
  }

  /** All requests share it, so that none of them aborts it. */
  #restrictedOf(
    items: RunItems,
    sources: readonly SourceSnapshot[],
    restrictions: Restrictions,
  ): Promise<RestrictedContents> {
    const { releases } = restrictions.reviews;
    const known = this.#restricted.get(items);
    if (known?.releases === releases) return known.contents;
    const contents = collect(items, sources, restrictions, this.#parts.closing);
    this.#restricted.set(items, { releases, contents });
    contents.catch(() => this.#restricted.delete(items));
    return contents;
  }
}

/** The sources of some items, by their paths: there may be a million, and as many items. */
function sourcesOf(
  lines: readonly OutcomeLine[],
  sources: readonly SourceSnapshot[],
): ReadonlyMap<string, SourceSnapshot> {
  if (lines.length === 0) return new Map();
  const paths = new Set(lines.map(({ source }) => source.path));
  return new Map(sources.filter(({ path }) => paths.has(path)).map((source) => [source.path, source]));
}

async function collect(
  items: RunItems,
  sources: readonly SourceSnapshot[],
  restrictions: Restrictions,
  signal: AbortSignal,
): Promise<RestrictedContents> {
  const contents = new RestrictedContents();
  let byPath: Map<string, SourceSnapshot> | null = null;
  for await (const line of items.restricted(signal)) {
    if (restrictions.by(line) === null) continue;
    byPath ??= new Map(sources.map((source) => [source.path, source]));
    contents.add(line, byPath.get(line.source.path) ?? null);
  }
  return contents;
}
