import type { ItemCode, ItemErrorReason } from '../item-error.ts';

/** What to do about items that were not judged, by code. */
export const ITEM_ADVICE: Readonly<Record<ItemCode, string>> = {
  MISSING_PAYLOAD: 'no content to judge; check the export',
  INVALID_CONVERSATION: 'not a list of turns that ends with a user or an assistant; check the export',
  INVALID_ROLE: 'a turn has a role other than system, user or assistant; map it in the export',
  EMPTY_CONTENT: 'blank text or an empty file; check the export if it should have content',
  UNSUPPORTED_AUDIO_TYPE: 'convert the audio to a supported type',
  SEQUENCE_OVERFLOW: "longer than the guard's context; split it, or judge it in windows (--long-text)",
  UNSUPPORTED_TYPE:
    'a type of file, content or column that is not supported; convert it, name the column (--text-column) or review it by hand',
  MALFORMED_ROW: 'the row breaks its format; correct it at the line in errors.jsonl',
  INVALID_ENCODING: 'not in the expected encoding; name it with --encoding',
  ITEM_TOO_LARGE:
    "larger than the limit for one item, or than the message size limit of the guard's server (errors.jsonl says which); split it, or raise that limit",
  CORRUPT_MEDIA: 'cannot be decoded; get the original again',
  MEDIA_TOO_LARGE: 'too large to decode; make it smaller',
  UNREADABLE_SOURCE:
    'the file is missing or could not be read completely; check it, its permissions or the manifest, then start a new run (media that could not be opened when they were judged: retry)',
  SOURCE_CHANGED: 'the file changed during the run; start a new run on it',
  GUARD_REJECTED: 'the guard rejected it; review it by hand',
  PROBE_NOT_LOADED: 'this guard cannot judge this kind of content; use one that can',
  INVALID_REPLY: "the guard's reply was unusable; check the guard",
  GUARD_UNAVAILABLE: 'the guard could not be reached',
  GUARD_OVERLOADED: 'the guard was overloaded',
  GUARD_INTERNAL: 'the guard had an internal error',
  TIMEOUT: 'the guard did not answer, or a file was not decoded, in time',
  INTERNAL: 'an error in guardsweep or on its machine; errors.jsonl has the details',
};

/** What to do about items whose error has a reason. */
export const REASON_ADVICE: Readonly<Record<ItemErrorReason, string>> = {
  ffmpeg_missing: 'install ffmpeg, then retry',
  file_type: 'convert the file to a supported type',
  encoded_content: 'decode the text in the export',
  no_text_column: 'name the column to judge (--text-column)',
  no_generation: 'judge it in a run without --as-stream',
};
