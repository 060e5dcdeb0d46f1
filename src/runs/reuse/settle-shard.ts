import type { CopiedItem, Item, JudgedItem, ReusedItem } from '../../domain/item.ts';
import type { Judgement } from '../../domain/outcome.ts';
import type { ItemRequest } from '../../domain/request.ts';
import type { Shard } from '../../domain/shard.ts';
import type { Snippet } from '../../domain/text/snippet.ts';
import type { StoredVerdict } from '../../store/verdicts.ts';

/** Where outcomes are found that items need not be judged for. */
interface Earlier {
  /** The verdict of another run on a content, by a model that is in use; null when there is none. */
  readonly verdictOn: (contentSha256: string) => StoredVerdict | null;
  /** The lowest seq in this pass of the run of an item with this content, of which `seq` is one. */
  readonly firstSeqOf: (contentSha256: string, seq: number) => number;
  /** The piece of the content that the outcome of an item with a stored verdict holds; null: none. */
  readonly snippetOf: (request: ItemRequest, judgement: Judgement) => Snippet | null;
}

/**
 * The shard with items settled whose content has a stored verdict, or is that of an earlier item of the pass, which may
 * still be in flight. Hashes of payload and items stay the same. Generations are always replayed: their verdicts depend
 * on the cadence, which is not part of their content. A run never reuses a verdict of its own: the line that it was
 * committed with may be lost.
 */
export function settleShard(shard: Shard, earlier: Earlier): Shard {
  const items = shard.items.map((item) => (isReusable(item) ? settled(item, earlier) : item));
  return { ...shard, items };
}

function isReusable(item: Item): item is JudgedItem {
  return item.settled === null && item.request.requestType !== 'generation';
}

function settled(
  item: JudgedItem,
  { verdictOn, firstSeqOf, snippetOf }: Earlier,
): JudgedItem | ReusedItem | CopiedItem {
  const { contentSha256, seq } = item;
  const found = verdictOn(contentSha256);
  if (found !== null) return known(item, found, snippetOf);
  const first = firstSeqOf(contentSha256, seq);
  return first < seq ? settledItem(item, { judgement: null, error: null, sameAs: first }) : item;
}

function known(
  item: JudgedItem,
  { judgement, fingerprint, run }: StoredVerdict,
  snippetOf: Earlier['snippetOf'],
): ReusedItem {
  const snippet = snippetOf(item.request, judgement);
  return settledItem(item, { judgement, fingerprint, reusedFrom: run, snippet, error: null });
}

/** The item without its content. */
function settledItem<S>(item: JudgedItem, settled: S): Omit<ReusedItem, 'settled'> & { settled: S } {
  const { seq, id, source, roles, part, turn, contentSha256 } = item;
  const { modality, requestType } = item.request;
  return { seq, id, source, roles, part, turn, request: null, modality, requestType, contentSha256, settled };
}
