import type { RunConfig } from '../../config/run-config.ts';
import { type Item, type Lane, LANES, chooseLane } from '../../domain/item.ts';
import { isEmbedded, isMedia, type MultiturnRequest, requestBytes } from '../../domain/request.ts';
import { itemsSha256 } from '../../domain/items-hash.ts';
import { payloadSha256, type Shard } from '../../domain/shard.ts';
import type { PlannedShard } from './plan-line.ts';

/**
 * Max items of other lanes read while a shard is open. It bounds how far a lane lags behind the others, and therefore
 * how much is buffered when shards are put back into corpus order.
 */
export const MAX_LAG_ITEMS = 4096;

/** A shard and its line in the plan. */
export interface CutShard {
  readonly shard: Shard;
  readonly line: PlannedShard;
}

/** An item and the index of its source. */
interface PlacedItem {
  readonly item: Item;
  readonly source: number;
}

/** The turns of a conversation, which must stay in one shard. */
interface Unit {
  readonly conversation: number;
  readonly items: PlacedItem[];
  /** Messages counted so far, and their size in UTF-8 bytes. Each counts once: all turns share the conversation. */
  messages: number;
  bytes: number;
}

/** Max size of a shard: items, bytes of content, and the part of those bytes that is embedded in the items. */
interface Bounds {
  readonly items: number;
  readonly bytes: number;
  readonly embedded: number;
}

type Limits = Pick<RunConfig['limits'], 'shardItems' | 'shardBytes' | 'mediaShardItems' | 'mediaShardBytes'>;

interface OpenShard {
  readonly items: PlacedItem[];
  bytes: number;
  embedded: number;
  /** Items of all lanes seen before it was opened. */
  readonly openedAt: number;
}

/**
 * Groups items into shards, per lane, within the bounds on items and bytes. Only a single unit that exceeds the bounds
 * forms a larger shard, alone. Shards are numbered in the order they close; within a lane seqs ascend. The result
 * depends only on the items and the limits.
 *
 * A shard holds either items of one source, or whole files, one item per source. The seqs of a shard therefore
 * identify the source of each of its items.
 */
export class ShardCutter {
  readonly #bounds: Readonly<Record<Lane, Bounds>>;
  readonly #pass: number;
  readonly #planned: ReadonlyMap<Lane, number>;
  readonly #open = new Map<Lane, OpenShard>();
  #nextShard: number;
  #seen = 0;
  #source: { readonly index: number; readonly wholeFile: boolean } | null = null;
  /** The conversation whose turns are being added; its shard is chosen when it is complete. */
  #unit: Unit | null = null;

  /** `planned` has the last seq per lane in the shards already planned for this pass. */
  constructor(
    limits: Limits,
    options: {
      readonly firstShard: number;
      readonly pass: number;
      readonly planned: ReadonlyMap<Lane, number>;
    },
  ) {
    const embedded = limits.shardBytes;
    const text = { items: limits.shardItems, bytes: limits.shardBytes, embedded };
    const media = { items: limits.mediaShardItems, bytes: limits.mediaShardBytes, embedded };
    this.#bounds = { text, chat: text, image: media, audio: media };
    this.#pass = options.pass;
    this.#planned = options.planned;
    this.#nextShard = options.firstShard;
  }

  /** Adds the next item, in ascending seq; `source` is the index of its source. Returns the shards it completes. */
  add(item: Item, source: number): CutShard[] {
    const cut: CutShard[] = [];
    this.#enter(item, source, cut);
    this.#seen++;
    const placed = { item, source };
    const { request } = item;
    if (request?.requestType === 'multiturn' && request.conversation !== null) {
      this.#addTurn(placed, request, request.conversation, cut);
    } else {
      this.#placeUnit(cut);
      this.#place(this.#laneOf(item), [placed], workBytes(item), cut);
    }
    this.#closeLagging(cut);
    return cut;
  }

  /** Closes and returns the shards that are still open. Must be called after the last item. */
  end(): CutShard[] {
    const cut: CutShard[] = [];
    this.#closeAll(cut);
    return cut;
  }

  /** Closes the open shards where a table starts or ends. Consecutive whole files share shards. */
  #enter(item: Item, source: number, cut: CutShard[]): void {
    const before = this.#source;
    if (before?.index === source) {
      if (before.wholeFile) this.#source = { index: source, wholeFile: false };
      return;
    }
    const wholeFile = item.source.row === null;
    // A source without items in between would break the mapping from seqs to sources too.
    const isConsecutive = before?.wholeFile === true && wholeFile && source === before.index + 1;
    if (before !== null && !isConsecutive) this.#closeAll(cut);
    this.#source = { index: source, wholeFile };
  }

  #closeAll(cut: CutShard[]): void {
    this.#placeUnit(cut);
    for (const lane of LANES) this.#close(lane, cut);
  }

  #addTurn(placed: PlacedItem, request: MultiturnRequest, conversation: number, cut: CutShard[]): void {
    if (this.#unit?.conversation !== conversation) {
      this.#placeUnit(cut);
      this.#unit = { conversation, items: [], messages: 0, bytes: 0 };
    }
    const unit = this.#unit;
    unit.items.push(placed);
    for (; unit.messages < request.turns; unit.messages++) {
      const [role, content] = request.messages[unit.messages]!;
      unit.bytes += role.length + Buffer.byteLength(content);
    }
  }

  #placeUnit(cut: CutShard[]): void {
    if (this.#unit === null) return;
    const { items, bytes } = this.#unit;
    this.#unit = null;
    this.#place('chat', items, bytes, cut);
  }

  #place(lane: Lane, items: readonly PlacedItem[], bytes: number, cut: CutShard[]): void {
    let open = this.#open.get(lane);
    const bounds = this.#bounds[lane];
    const embedded = items.reduce((sum, { item }) => sum + embeddedBytes(item), 0);
    if (open !== undefined && !hasRoom(open, bounds, { items: items.length, bytes, embedded })) {
      this.#close(lane, cut);
      open = undefined;
    }
    if (open === undefined) {
      open = { items: [], bytes: 0, embedded: 0, openedAt: this.#seen - items.length };
      this.#open.set(lane, open);
    }
    for (const item of items) open.items.push(item);
    open.bytes += bytes;
    open.embedded += embedded;
    if (!hasRoom(open, bounds, { items: 1, bytes: 0, embedded: 0 })) this.#close(lane, cut);
  }

  /**
   * The lane that an item is planned in, which is normally its own. If a run stopped before the item was planned and
   * the item's file changed since, its new lane may already be planned past its seq. It then gets a lane that is not,
   * such as the one it had before.
   */
  #laneOf(item: Item): Lane {
    const ascends = (lane: Lane): boolean => (this.#planned.get(lane) ?? -1) < item.seq;
    const lane = chooseLane(item);
    return ascends(lane) ? lane : (LANES.find(ascends) ?? lane);
  }

  #closeLagging(cut: CutShard[]): void {
    for (const lane of LANES) {
      const open = this.#open.get(lane);
      if (open !== undefined && this.#seen - open.openedAt - open.items.length >= MAX_LAG_ITEMS) {
        this.#close(lane, cut);
      }
    }
  }

  #close(lane: Lane, cut: CutShard[]): void {
    const open = this.#open.get(lane);
    if (open === undefined) return;
    this.#open.delete(lane);
    const items = open.items.map(({ item }) => item);
    const shard = { shard: this.#nextShard++, pass: this.#pass, lane, items };
    cut.push({ shard, line: planLine(shard, open.items) });
  }
}

function hasRoom(open: OpenShard, bounds: Bounds, more: Bounds): boolean {
  return (
    open.items.length + more.items <= bounds.items &&
    open.bytes + more.bytes <= bounds.bytes &&
    open.embedded + more.embedded <= bounds.embedded
  );
}

function embeddedBytes({ request }: Item): number {
  return request !== null && isEmbedded(request) ? request.embedded.length : 0;
}

/** Bytes that are read to judge an item: its content, embedded or in a file. */
function workBytes({ request }: Item): number {
  if (request === null) return 0;
  return isMedia(request) ? request.file.bytes : requestBytes(request);
}

function planLine(shard: Shard, items: readonly PlacedItem[]): PlannedShard {
  const first = items[0]!;
  const last = items.at(-1)!;
  return {
    shard: shard.shard,
    pass: shard.pass,
    lane: shard.lane,
    seqs: ranges(shard.items),
    source: first.source,
    from: first.item.source.row,
    to_source: last.source,
    to: last.item.source.row,
    items: items.length,
    payload_sha256: payloadSha256(shard.items),
    items_sha256: itemsSha256(shard.items),
  };
}

/** The seqs of items as inclusive ranges. */
function ranges(items: readonly Item[]): [first: number, last: number][] {
  const found: [number, number][] = [];
  for (const { seq } of items) {
    const range = found.at(-1);
    if (range?.[1] === seq - 1) range[1] = seq;
    else found.push([seq, seq]);
  }
  return found;
}
