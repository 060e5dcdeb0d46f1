import type { Replay } from '../../config/run-config.ts';
import { contentSha256, conversationSha256 } from '../../domain/content-hash.ts';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import type { Item, ItemSource, FailedItem } from '../../domain/item.ts';
import {
  type EmbeddedMediaRequest,
  isEmbedded,
  type Modality,
  type MultiturnRequest,
  requestBytes,
  type Turn,
  turnBytes,
} from '../../domain/request.ts';
import { type ByteSpan, isFields, type RecordContent, type SourceRecord } from '../../formats/record.ts';
import type { Draft, FailedDraft } from '../../formats/transcripts/draft.ts';
import { draftRecord } from '../../formats/transcripts/draft-record.ts';
import type { RecordOptions } from '../../formats/transcripts/draft-record.ts';
import { joinChunks, createReplay } from '../../formats/transcripts/generations.ts';
import type { SourceSnapshot } from '../sources/sources-file.ts';
import { binaryKind } from '../../formats/binary-kind.ts';
import { idOfSource } from '../sources/file-place.ts';
import type { SourceHead } from '../sources/open-source.ts';

/**
 * Max bytes submitted for all turns of a conversation together. Each turn submits all earlier ones again, so the sum
 * grows quadratically with the number of turns. Turns beyond the limit end as ITEM_TOO_LARGE.
 */
const MAX_SUBMITTED_BYTES = 1024 * 1024 * 1024;
/** Bytes per message in a request besides role and content. */
const MESSAGE_OVERHEAD_BYTES = 8;

/** Max length of an id in characters. For longer values, the item's position is used instead. */
const MAX_ID_LENGTH = 512;

interface ItemMakerOptions {
  readonly source: Pick<SourceSnapshot, 'path' | 'absolute'>;
  /** Names of columns that may contain the id, in order of preference. */
  readonly idNames: readonly string[];
  readonly firstSeq: number;
  /** Largest item in UTF-8 bytes. */
  readonly itemBytes: number;
  /** How generations are replayed; null to judge their responses as a whole. */
  readonly replay: Replay | null;
}

/** The content of a file that is one item. */
export interface WholeFile extends Pick<ItemSource, 'sha256' | 'bytes'> {
  readonly draft: Draft;
  /** Null to use the id of the file. */
  readonly id: string | null;
}

/** Position of a record in its file. */
interface Place {
  readonly row: number;
  readonly line: number | null;
  readonly span?: ByteSpan | undefined;
}

/** Hashes and sizes of a conversation up to and including each of its messages. */
interface MeasuredConversation {
  readonly messages: readonly Turn[];
  readonly sha256: readonly string[];
  readonly bytes: readonly number[];
  /** Bytes submitted to judge all turns up to and including each message. */
  readonly submitted: readonly number[];
}

/** Makes items from the records of one file: assigns seqs and ids, checks sizes, hashes content. */
export class ItemMaker {
  readonly #path: string;
  /** Base for the ids of items that have no id of their own. */
  readonly #fileId: string;
  readonly #idNames: readonly string[];
  readonly #itemBytes: number;
  readonly #replay: Replay | null;
  #textStart: number | null = null;
  #seq: number;
  /** The conversation whose turns were last made into items. */
  #conversation: MeasuredConversation | null = null;

  constructor(options: ItemMakerOptions) {
    this.#path = options.source.path;
    this.#fileId = idOfSource(options.source);
    this.#idNames = options.idNames;
    this.#itemBytes = options.itemBytes;
    this.#replay = options.replay;
    this.#seq = options.firstSeq;
  }

  /** For `textStart`, see SourceHead. Without it, items do not have the offsets of their records. */
  seekIn({ textStart }: Pick<SourceHead, 'textStart'>): this {
    this.#textStart = textStart;
    return this;
  }

  /** Appends the items of a record to `items`: at least one, unless the record is the wrapper object of the records. */
  add(record: SourceRecord, options: RecordOptions, items: Item[]): void {
    if (record.error !== null) {
      items.push(this.refused(record, record.error, 'text'));
      return;
    }
    const source = this.#sourceOf(record);
    const id = this.#idOf(record.content) ?? this.#positionOf(record);
    const first = this.#seq;
    for (const draft of draftRecord(record, options).drafts) {
      items.push(this.#item(draft.suffix === '' ? id : id + draft.suffix, source, draft, first));
    }
  }

  /** Appends the items of a part of a file that contains others; `row` is the part's number. */
  addPart(row: number, drafts: readonly Draft[], items: Item[]): void {
    const place = { row, line: null };
    const source = this.#sourceOf(place);
    const id = this.#positionOf(place);
    const first = this.#seq;
    for (const draft of drafts) items.push(this.#item(id + draft.suffix, source, draft, first));
  }

  /** An item that is the whole file. */
  wholeFile({ sha256, bytes, draft, id }: WholeFile): Item {
    const source = { path: this.#path, row: null, line: null, sha256, bytes, offset: null, length: null };
    return this.#item(id ?? this.#fileId, source, draft, this.#seq);
  }

  /** The failed item of a record that cannot be judged. */
  refused(record: SourceRecord, error: ItemError, modality: Modality | null): Item {
    const id = record.content === null ? null : this.#idOf(record.content);
    const settled = { modality, requestType: null, error };
    return this.#failed(id ?? this.#positionOf(record), this.#sourceOf(record), settled);
  }

  #item(id: string, source: ItemSource, given: Draft, firstSeq: number): Item {
    const draft = this.#replay === null ? joinChunks(given) : createReplay(given, this.#replay);
    if (draft.error !== null) return this.#failed(id, source, draft);
    const { request } = draft;
    const unknown = isEmbedded(request) ? embeddedProblem(request) : null;
    if (unknown !== null) {
      const { modality, requestType } = request;
      return this.#failed(id, source, { ...draft, modality, requestType, error: unknown });
    }
    const ofConversation = request.requestType === 'multiturn' && request.conversation !== null;
    const bytes = ofConversation ? this.#measured(request).bytes[request.turns - 1]! : requestBytes(request);
    const error = this.#tooLarge(
      bytes,
      ofConversation ? this.#measured(request).submitted[request.turns - 1]! : 0,
    );
    if (error !== null) {
      const { modality, requestType } = request;
      return this.#failed(id, source, { ...draft, modality, requestType, error });
    }
    return {
      seq: this.#seq++,
      id,
      source,
      roles: draft.roles ?? null,
      part: draft.part ?? null,
      turn: draft.turn ?? null,
      request: ofConversation ? { ...request, conversation: firstSeq + request.conversation } : request,
      contentSha256: ofConversation
        ? this.#measured(request).sha256[request.turns - 1]!
        : contentSha256(request),
      settled: null,
    };
  }

  #tooLarge(bytes: number, submitted: number): ItemError | null {
    if (bytes > this.#itemBytes) {
      return itemError('ITEM_TOO_LARGE', `the item has ${bytes} bytes of at most ${this.#itemBytes}`);
    }
    if (submitted <= MAX_SUBMITTED_BYTES) return null;
    const most = MAX_SUBMITTED_BYTES / 1024 / 1024;
    return itemError(
      'ITEM_TOO_LARGE',
      `the turns up to this one submit more than ${most} MB one after another`,
    );
  }

  #failed(
    id: string,
    source: ItemSource,
    { modality, requestType, roles = null, part, turn, error }: Omit<FailedDraft, 'suffix' | 'request'>,
  ): FailedItem {
    const seq = this.#seq++;
    const settled = { judgement: null, error };
    const kind = { modality, requestType, contentSha256: null };
    const place = { part: part ?? null, turn: turn ?? null };
    return { seq, id, source, roles, ...place, request: null, ...kind, settled };
  }

  /** Sizes and hashes of a turn's conversation, computed once for all its turns. */
  #measured({ messages }: MultiturnRequest): MeasuredConversation {
    if (this.#conversation?.messages === messages) return this.#conversation;
    let sum = 0;
    const bytes = messages.map((turn) => (sum += turnBytes(turn)));
    let all = 0;
    const submitted = messages.map(([role], index) => {
      if (role !== 'system') all += bytes[index]! + (index + 1) * MESSAGE_OVERHEAD_BYTES;
      return all;
    });
    return (this.#conversation = { messages, bytes, submitted, sha256: conversationSha256(messages) });
  }

  #sourceOf(record: Place): ItemSource {
    const { row, line } = record;
    const { span } = record;
    const isSought = span !== undefined && this.#textStart !== null;
    const offset = isSought ? this.#textStart! + span.start : null;
    const length = isSought ? span.end - span.start : null;
    return { path: this.#path, row, line, sha256: null, bytes: null, offset, length };
  }

  /** The id of a record that has none. */
  #positionOf({ row }: Place): string {
    return `${this.#fileId}#${row}`;
  }

  #idOf(content: RecordContent): string | null {
    if (!isFields(content)) return null;
    for (const name of this.#idNames) {
      const value = content.get(name);
      const id = typeof value === 'number' ? String(value) : value;
      if (typeof id === 'string' && id.length <= MAX_ID_LENGTH && /\S/.test(id)) return id;
    }
    return null;
  }
}

/** The error for an embedded image or clip of a kind that is not judged; null otherwise. */
function embeddedProblem({ modality, embedded }: EmbeddedMediaRequest): ItemError | null {
  const kind = binaryKind(embedded, '', null);
  if (kind?.modality === modality && kind.isJudged) return null;
  const what = kind?.name ?? 'text';
  return itemError('UNSUPPORTED_TYPE', `the embedded ${modality} is ${what}, which is not judged`);
}
