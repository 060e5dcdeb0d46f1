import type { ItemCode, ItemErrorReason } from '../item-error.ts';

interface Advice {
  /** The problem and what to do about it, without our terms, for a line of 48 columns. */
  readonly brief: string;
  /** Full advice. */
  readonly full: string;
}

/** Advice for items that were not judged, by code. */
export const ITEM_ADVICE: Readonly<Record<ItemCode, Advice>> = {
  MISSING_PAYLOAD: {
    brief: 'no content: check the export',
    full: 'no content to judge; check the export',
  },
  INVALID_CONVERSATION: {
    brief: 'not a list of turns: check the export',
    full: 'not a list of turns that ends with a user or an assistant; check the export',
  },
  INVALID_ROLE: {
    brief: 'unknown role in a chat: map it in the export',
    full: 'a turn has a role other than system, user or assistant; map it in the export',
  },
  EMPTY_CONTENT: {
    brief: 'blank or empty: fine if it should be',
    full: 'blank text or an empty file; check the export if it should have content',
  },
  UNSUPPORTED_AUDIO_TYPE: {
    brief: 'audio of an unknown type: convert it',
    full: 'convert the audio to a supported type',
  },
  SEQUENCE_OVERFLOW: {
    brief: 'too long for the guard: split it',
    full: "longer than the guard's context, and not to be judged in windows; split it, or use a guard with a longer context",
  },
  UNSUPPORTED_TYPE: {
    brief: 'an unsupported type: convert it',
    full: 'a type of file or content that is not supported; convert it, or review it by hand',
  },
  MALFORMED_ROW: {
    brief: 'broken rows: correct them',
    full: 'the row breaks its format; correct it at the line in errors.jsonl',
  },
  INVALID_ENCODING: {
    brief: 'not UTF-8: name the encoding',
    full: 'not in the expected encoding; name it with --encoding',
  },
  ITEM_TOO_LARGE: {
    brief: 'too large: split it',
    full: "larger than the limit for one item, or than the message size limit of the guard's server (errors.jsonl says which); split it, or raise that limit",
  },
  CORRUPT_MEDIA: {
    brief: 'damaged image or audio: replace it',
    full: 'cannot be decoded; replace it with the original',
  },
  MEDIA_TOO_LARGE: {
    brief: 'image or audio too large: make it smaller',
    full: 'too large to decode; make it smaller',
  },
  UNREADABLE_SOURCE: {
    brief: 'unreadable: check the file and its permissions',
    full: 'the file is missing or could not be read completely; check it, its permissions or the manifest, then start a new run (media that could not be opened when they were judged: retry)',
  },
  SOURCE_CHANGED: {
    brief: 'changed during the run: start a new run',
    full: 'the file changed during the run; start a new run on it',
  },
  GUARD_REJECTED: {
    brief: 'refused by the guard: review it by hand',
    full: 'the guard rejected it; review it by hand',
  },
  PROBE_NOT_LOADED: {
    brief: 'not a kind that this guard judges: use another',
    full: 'this guard cannot judge this kind of content; use one that can',
  },
  INVALID_REPLY: {
    brief: 'unusable answer: check the guard',
    full: "the guard's reply was unusable; check the guard",
  },
  GUARD_UNAVAILABLE: { brief: 'no guard answered: retry', full: 'the guard could not be reached' },
  GUARD_OVERLOADED: { brief: 'the guard was overloaded: retry', full: 'the guard was overloaded' },
  GUARD_INTERNAL: { brief: 'the guard failed: retry', full: 'the guard had an internal error' },
  TIMEOUT: {
    brief: 'took too long: retry',
    full: 'the guard did not answer, or a file was not decoded, in time',
  },
  INTERNAL: {
    brief: 'internal error: see errors.jsonl, then retry',
    full: 'an error in guardsweep or on its machine; errors.jsonl has the details',
  },
};

/** Advice by cause, for causes that have their own. */
export const REASON_ADVICE: Readonly<Record<ItemErrorReason, Advice>> = {
  no_text_column: {
    brief: 'tables without a text column: name one',
    full: 'no column of the table is recognised as text; name it with --text-column in a new run',
  },
  file_type: {
    brief: 'files of unsupported types: convert them',
    full: 'a file of a type that is not judged; convert it, or review it by hand',
  },
  encoded_content: {
    brief: 'base64, hex or the like: decode it',
    full: 'a text that is base64, hex or the like; decode it in the export',
  },
  parquet_codec: {
    brief: 'Parquet in the old LZ4 codec: rewrite the file',
    full: 'a Parquet file in a codec that is not read, such as the old LZ4; rewrite it with Zstandard, for example with pyarrow: pq.write_table(pq.read_table(old), new, compression="zstd")',
  },
  no_generation: {
    brief: 'nothing to replay: judge without --as-stream',
    full: 'no prompt with a response to replay; judge it in a run without --as-stream',
  },
  ffmpeg_missing: {
    brief: 'audio, and ffmpeg is missing: install it',
    full: 'audio, which ffmpeg decodes; install ffmpeg, then retry',
  },
};
