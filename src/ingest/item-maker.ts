import { contentSha256, conversationSha256 } from '../domain/content-hash.ts';
import { itemError, type ItemError } from '../domain/item-error.ts';
import { type Item, type ItemSource, type SettledItem } from '../domain/item.ts';
import {
  type ItemRequest,
  type Modality,
  type MultiturnRequest,
  requestBytes,
  type Turn,
} from '../domain/request.ts';
import { isFields, type RecordContent, type SourceRecord } from '../formats/record.ts';
import { ID_NAMES } from '../formats/transcripts/columns.ts';
import { type Draft } from '../formats/transcripts/draft.ts';
import { draftRecord, type RecordOptions } from '../formats/transcripts/draft-record.ts';

/** Longer values are no ids; the position serves instead. */
const MAX_ID_LENGTH = 512;

export interface ItemMakerOptions {
  /** What outcome lines show of the file. */
  readonly path: string;
  readonly idColumn: string | null;
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

/** Makes the items of one file out of its records: gives seqs and ids, bounds sizes, hashes content. */
export class ItemMaker {
  readonly #path: string;
  readonly #idNames: readonly string[];
  readonly #itemBytes: number;
  #seq: number;
  /** Running hashes and sizes of the conversation whose turns are being made into items. */
  #conversation: {
    readonly messages: readonly Turn[];
    readonly sha256: readonly string[];
    readonly bytes: readonly number[];
  } | null = null;

  constructor(options: ItemMakerOptions) {
    this.#path = options.path;
    this.#idNames = options.idColumn === null ? ID_NAMES : [options.idColumn];
    this.#itemBytes = options.itemBytes;
    this.#seq = options.firstSeq;
  }

  /** Appends the items of a record to `items`; at least one. */
  add(record: SourceRecord, options: RecordOptions, items: Item[]): void {
    const position = `${this.#path}#${record.row}`;
    const source = { path: this.#path, row: record.row, line: record.line, sha256: null, bytes: null };
    if (record.error !== null) {
      items.push(this.refused(record, record.error, 'text'));
      return;
    }
    const id = this.#idOf(record.content) ?? position;
    const first = this.#seq;
    for (const draft of draftRecord(record.content, options).drafts) {
      items.push(this.#item(id + draft.suffix, source, draft, first));
    }
  }

  /** An item that is the whole file. */
  wholeFile({ sha256, bytes, draft, id }: WholeFile): Item {
    const source = { path: this.#path, row: null, line: null, sha256, bytes };
    return this.#item(id ?? this.#path, source, draft, this.#seq);
  }

  /** The item that stands for a record of which nothing can be judged. */
  refused(record: SourceRecord, error: ItemError, modality: Modality | null): Item {
    const position = `${this.#path}#${record.row}`;
    const source = { path: this.#path, row: record.row, line: record.line, sha256: null, bytes: null };
    const id = record.content === null ? null : this.#idOf(record.content);
    return this.#settled(id ?? position, source, { modality, requestType: null, error });
  }

  #item(id: string, source: ItemSource, draft: Draft, firstSeq: number): Item {
    if (draft.error !== null) return this.#settled(id, source, draft);
    const { request } = draft;
    const ofConversation = request.requestType === 'multiturn' && request.conversation !== null;
    const { sha256, bytes } = ofConversation ? this.#turnMeasure(request) : this.#measure(request);
    if (bytes > this.#itemBytes) {
      const error = itemError('ITEM_TOO_LARGE', `the item has ${bytes} bytes of at most ${this.#itemBytes}`);
      return this.#settled(id, source, {
        modality: request.modality,
        requestType: request.requestType,
        error,
      });
    }
    return {
      seq: this.#seq++,
      id,
      source,
      request: ofConversation ? { ...request, conversation: firstSeq + request.conversation } : request,
      contentSha256: sha256(),
      error: null,
    };
  }

  #settled(
    id: string,
    source: ItemSource,
    { modality, requestType, error }: Pick<SettledItem, 'modality' | 'requestType' | 'error'>,
  ): SettledItem {
    return { seq: this.#seq++, id, source, request: null, modality, requestType, contentSha256: null, error };
  }

  #measure(request: ItemRequest): { readonly sha256: () => string; readonly bytes: number } {
    return { sha256: () => contentSha256(request), bytes: requestBytes(request) };
  }

  /** The same for one turn of a conversation, whose other turns are measured along with it. */
  #turnMeasure({ messages, turns }: MultiturnRequest): {
    readonly sha256: () => string;
    readonly bytes: number;
  } {
    if (this.#conversation?.messages !== messages) {
      let sum = 0;
      const bytes = messages.map(([role, content]) => (sum += role.length + Buffer.byteLength(content)));
      this.#conversation = { messages, bytes, sha256: conversationSha256(messages) };
    }
    const { sha256, bytes } = this.#conversation;
    return { sha256: () => sha256[turns - 1]!, bytes: bytes[turns - 1]! };
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
