import type { OutcomeLine } from '../../domain/outcome.ts';
import { isObjectPath } from '../../domain/object-path.ts';
import type { ItemRequest } from '../../domain/request.ts';
import { abortable } from '../../flow/abortable.ts';
import { realPath } from '../../files/open-inside.ts';
import type { SourceSnapshot } from '../../ingest/sources/sources-file.ts';
import type { Restrictions } from '../../record/restricted/restrictions.ts';
import type { ContentProblem } from '../api/items.ts';
import { conversationTip } from '../index/conversation-tip.ts';
import type { RunIndex } from '../index/run-index.ts';
import type { RunIndexes } from '../index/run-indexes.ts';
import type { ContentAccess } from '../runs/content-access.ts';
import type { OpenedRun, OpenedRuns } from './opened-runs.ts';
import { RestrictedContents } from './restricted-contents.ts';

/** Maximum lines read at a time. */
const READ_LINES = 256;

interface GateParts {
  readonly runs: OpenedRuns;
  readonly indexes: RunIndexes;
  readonly access: ContentAccess;
  /** Aborted when the dashboard shuts down. */
  readonly closing: AbortSignal;
}

/** An item whose source may be read. */
export interface Admitted {
  readonly opened: OpenedRun;
  readonly line: OutcomeLine;
  readonly source: SourceSnapshot;
  /** Whether part of the content must not be shown. */
  readonly isRestricted: (request: ItemRequest) => boolean;
  readonly tippedBy: number | null;
}

/** Why the source may not be read. `message` replaces the default message. */
interface Refused {
  readonly problem: ContentProblem;
  readonly message?: string;
}

interface CollectedContents {
  /** Number of contents that had been released when this was read. */
  readonly releases: number;
  readonly contents: Promise<RestrictedContents>;
}

/** Decides whether the source of an item may be read, before any of it is read. */
export class ContentGate {
  readonly #parts: GateParts;
  readonly #restricted = new WeakMap<RunIndex, CollectedContents>();

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /** Null for an item without an outcome. */
  async admit(runDir: string, seq: number, signal: AbortSignal): Promise<Admitted | Refused | null> {
    const opened = await this.#parts.runs.open(runDir, signal);
    if (opened === null) return { problem: 'not_your_run' };
    const known = await this.#parts.indexes.use(runDir, signal, (index) =>
      this.#known(index, { seq, opened, signal }),
    );
    if (known === null || 'problem' in known) return known;
    const problem = await this.#problemOf(known.source, opened.run.sources);
    return problem === null ? known : { problem };
  }

  /** Decides from the record of an item. */
  async #known(
    index: RunIndex,
    { seq, opened, signal }: { seq: number; opened: OpenedRun; signal: AbortSignal },
  ): Promise<Admitted | Refused | null> {
    const { lines } = index;
    const [line] = await lines.read([seq]);
    if (line === undefined) return null;
    const restrictions = await index.currentRestrictions(signal);
    if (restrictions.by(line) !== null) return { problem: 'restricted' };
    const { sources } = opened.run;
    const source = sources.find(({ path }) => path === line.source.path) ?? null;
    const restricted = await abortable(this.#restrictedOf(index, sources, restrictions), signal);
    const found = await lines.read(await index.seqsOf('found', signal));
    const byPath = sourcesOf(found, sources);
    for (const each of found) restricted.add(each, byPath.get(each.source.path) ?? null);
    if (restricted.holds(line, source)) return { problem: 'restricted' };
    if (line.error !== null && line.content_sha256 === null) {
      const message = `It could not be read when it was to be judged: ${line.error.message}.`;
      return { problem: 'not_readable', message };
    }
    if (source === null) return { problem: 'not_readable' };
    const tippedBy = (await conversationTip(lines, line, signal))?.turn ?? null;
    const isRestricted = (request: ItemRequest): boolean =>
      restricted.holdsPartOf(request) || restrictions.holds(request);
    return { opened, line, source, isRestricted, tippedBy };
  }

  /**
   * Why the files of an item may not or cannot be read. They may be swapped afterwards, so what is read later is shown
   * only if it is what was judged.
   */
  async #problemOf(
    { absolute, sidecar, manifest }: SourceSnapshot,
    sources: readonly SourceSnapshot[],
  ): Promise<ContentProblem | null> {
    const list = typeof manifest === 'number' ? sources[manifest]! : manifest;
    for (const path of [absolute, sidecar?.absolute, list?.absolute]) {
      if (path === undefined) continue;
      if (isObjectPath(path)) return 'outside_root';
      let real: string;
      try {
        real = await realPath(path);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return code === 'ENOENT' || code === 'ENOTDIR' ? 'source_missing' : 'not_readable';
      }
      if (!this.#parts.access.containsReal(real)) return 'outside_root';
    }
    return null;
  }

  /** The result is shared by all requests, so no request aborts the collection. */
  #restrictedOf(
    index: RunIndex,
    sources: readonly SourceSnapshot[],
    restrictions: Restrictions,
  ): Promise<RestrictedContents> {
    const { releases } = restrictions.reviews;
    const known = this.#restricted.get(index);
    if (known?.releases === releases) return known.contents;
    const contents = collect(index, sources, restrictions, this.#parts.closing);
    this.#restricted.set(index, { releases, contents });
    contents.catch(() => this.#restricted.delete(index));
    return contents;
  }
}

/** Sources of some items, by path. Includes no others, since there may be a million sources, and as many items. */
function sourcesOf(
  lines: readonly OutcomeLine[],
  sources: readonly SourceSnapshot[],
): ReadonlyMap<string, SourceSnapshot> {
  if (lines.length === 0) return new Map();
  const paths = new Set(lines.map(({ source }) => source.path));
  return new Map(sources.filter(({ path }) => paths.has(path)).map((source) => [source.path, source]));
}

async function collect(
  index: RunIndex,
  sources: readonly SourceSnapshot[],
  restrictions: Restrictions,
  signal: AbortSignal,
): Promise<RestrictedContents> {
  const contents = new RestrictedContents();
  let byPath: Map<string, SourceSnapshot> | null = null;
  const seqs = await index.seqsOf('restricted', signal);
  for (let from = 0; from < seqs.length; from += READ_LINES) {
    signal.throwIfAborted();
    for (const line of await index.lines.read(seqs.slice(from, from + READ_LINES))) {
      if (restrictions.by(line) === null) continue;
      byPath ??= new Map(sources.map((source) => [source.path, source]));
      contents.add(line, byPath.get(line.source.path) ?? null);
    }
  }
  return contents;
}
