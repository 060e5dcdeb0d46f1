import { contentSha256, conversationSha256 } from '../../domain/content-hash.ts';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import type { Item, ItemSource, FailedItem } from '../../domain/item.ts';
import {
  isEmbedded,
  type Modality,
  type MultiturnRequest,
  requestBytes,
  type Turn,
  turnBytes,
} from '../../domain/request.ts';
import { isFields, type RecordContent, type SourceRecord } from '../../formats/record.ts';
import type { Draft, SettledDraft } from '../../formats/transcripts/draft.ts';
import { draftSource } from '../../formats/transcripts/around.ts';
import type { RecordOptions } from '../../formats/transcripts/draft-record.ts';
import { binaryKind } from '../recognise/binary-kind.ts';

/**
 * What the turns of a conversation may submit together when each is judged: every turn submits all before it again, so
 * that this grows with the square of their number. Turns beyond end as ITEM_TOO_LARGE.
 */
const MAX_SUBMITTED_BYTES = 1024 * 1024 * 1024;
/** What a message takes in a request besides role and content. */
const MESSAGE_OVERHEAD_BYTES = 8;

/** Longer values are no ids; the position serves instead. */
const MAX_ID_LENGTH = 512;

interface ItemMakerOptions {
  /** What outcome lines show of the file. */
  readonly path: string;
  /** Names of the columns that may hold the id, the likeliest first. */
  readonly idNames: readonly string[];
  readonly firstSeq: number;
  /** Largest item in UTF-8 bytes. */
  readonly itemBytes: number;
}

/** What a file holds that is one item. */
export interface WholeFile extends Pick<ItemSource, 'sha256' | 'bytes'> {
  readonly draft: Draft;
  /** Null: the path is. */
  readonly id: string | null;
}

/** Hashes and sizes of a conversation up to and including each of its messages. */
interface MeasuredConversation {
  readonly messages: readonly Turn[];
  readonly sha256: readonly string[];
  readonly bytes: readonly number[];
  /** What judging every turn up to and including each submits. */
  readonly submitted: readonly number[];
}

/** Makes the items of one file out of its records: gives seqs and ids, bounds sizes, hashes content. */
export class ItemMaker {
  readonly #path: string;
  readonly #idNames: readonly string[];
  readonly #itemBytes: number;
  #seq: number;
  /** The conversation whose turns are being made into items. */
  #conversation: MeasuredConversation | null = null;

  constructor(options: ItemMakerOptions) {
    this.#path = options.path;
    this.#idNames = options.idNames;
    this.#itemBytes = options.itemBytes;
    this.#seq = options.firstSeq;
  }

  /** Appends the items of a record to `items`: at least one, unless it is what stands around the records. */
  add(record: SourceRecord, options: RecordOptions, items: Item[]): void {
    if (record.error !== null) {
      items.push(this.refused(record, record.error, 'text'));
      return;
    }
    const source = this.#sourceOf(record);
    const id = this.#idOf(record.content) ?? this.#positionOf(record);
    const first = this.#seq;
    for (const draft of draftSource(record, options).drafts) {
      items.push(this.#item(draft.suffix === '' ? id : id + draft.suffix, source, draft, first));
    }
  }

  /** An item that is the whole file. */
  wholeFile({ sha256, bytes, draft, id }: WholeFile): Item {
    const source = { path: this.#path, row: null, line: null, sha256, bytes };
    return this.#item(id ?? this.#path, source, draft, this.#seq);
  }

  /** The item that stands for a record of which nothing can be judged. */
  refused(record: SourceRecord, error: ItemError, modality: Modality | null): Item {
    const id = record.content === null ? null : this.#idOf(record.content);
    const settled = { modality, requestType: null, error };
    return this.#failed(id ?? this.#positionOf(record), this.#sourceOf(record), settled);
  }

  #item(id: string, source: ItemSource, draft: Draft, firstSeq: number): Item {
    if (draft.error !== null) return this.#failed(id, source, draft);
    const { request } = draft;
    const unknown = isEmbedded(request) ? embeddedProblem(request.embedded) : null;
    if (unknown !== null) {
      return this.#failed(id, source, { modality: 'image', requestType: 'prompt', error: unknown });
    }
    const ofConversation = request.requestType === 'multiturn' && request.conversation !== null;
    const bytes = ofConversation ? this.#measured(request).bytes[request.turns - 1]! : requestBytes(request);
    const error = this.#tooLarge(
      bytes,
      ofConversation ? this.#measured(request).submitted[request.turns - 1]! : 0,
    );
    if (error !== null) {
      return this.#failed(id, source, {
        modality: request.modality,
        requestType: request.requestType,
        roles: draft.roles ?? null,
        error,
      });
    }
    return {
      seq: this.#seq++,
      id,
      source,
      roles: draft.roles ?? null,
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
    { modality, requestType, roles = null, error }: Omit<SettledDraft, 'suffix' | 'request'>,
  ): FailedItem {
    const seq = this.#seq++;
    const settled = { judgement: null, error };
    return { seq, id, source, roles, request: null, modality, requestType, contentSha256: null, settled };
  }

  /** The conversation of a turn, all of whose turns are measured together. */
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

  #sourceOf({ row, line }: SourceRecord): ItemSource {
    return { path: this.#path, row, line, sha256: null, bytes: null };
  }

  /** What names a record without an id. */
  #positionOf({ row }: SourceRecord): string {
    return `${this.#path}#${row}`;
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

/** What stands in a record as an image has to be one that is judged. */
function embeddedProblem(bytes: Buffer): ItemError | null {
  const kind = binaryKind(bytes, '', null);
  if (kind?.modality === 'image' && kind.isJudged) return null;
  const what = kind?.name ?? 'text';
  return itemError(
    'UNSUPPORTED_TYPE',
    `what stands as an image in the record is ${what}, which is not judged`,
  );
}
