import { isUtf8 } from 'node:buffer';
import { itemError } from '../../domain/item-error.ts';
import { promptDraft, settled, type Draft } from '../../formats/transcripts/draft.ts';
import type { WholeFile } from './item-maker.ts';
import type { ManifestTable } from '../recognise/manifest-table.ts';
import type { SourceContent, SourceHead } from '../sources/open-source.ts';
import type { FrozenSource } from '../plan/plan-line.ts';

/** Reads a file that is one text. A text that is too large is only hashed. */
export async function readTextItem(
  file: SourceContent,
  head: SourceHead,
  target: {
    readonly source: FrozenSource;
    /** The manifest of the corpus; undefined if there is none. */
    readonly manifest: ManifestTable | undefined;
    /** Max size of the text in UTF-8 bytes. */
    readonly itemBytes: number;
  },
): Promise<WholeFile> {
  let pieces = [head.text];
  let bytes = head.text.length;
  const sha256 = await file.hashRest((piece) => {
    bytes += piece.length;
    if (bytes > target.itemBytes) pieces = [];
    else pieces.push(piece);
  });
  const draft =
    bytes > target.itemBytes
      ? settled(
          '',
          'prompt',
          itemError('ITEM_TOO_LARGE', `the text has ${bytes} bytes of at most ${target.itemBytes}`),
        )
      : textDraft(Buffer.concat(pieces));
  const { source, manifest } = target;
  return { sha256, bytes: source.bytes, draft, id: manifest?.entry(source)?.id ?? null };
}

function textDraft(bytes: Buffer): Draft {
  if (isUtf8(bytes)) return promptDraft('', bytes.toString());
  return settled('', 'prompt', itemError('INVALID_ENCODING', 'the file holds bytes that are not text'));
}
