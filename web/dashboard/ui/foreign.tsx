import { escapeText } from '../../../src/domain/text/escape-text.ts';

/** Longest name that is held at all: in the title of one that is cut. */
const MAX_TITLE = 1000;

interface Props {
  readonly text: string;
  /** In characters. */
  readonly max?: number;
  /** In the font of code: paths, ids, hashes. */
  readonly code?: boolean;
}

/** A string from a record or a file system: control and bidirectional characters are escaped, its length is bounded. */
export function Foreign({ text, max = 80, code = false }: Props) {
  const title = text.length > max ? escapeText(text, MAX_TITLE) : undefined;
  return (
    <bdi class={code ? 'foreign code' : 'foreign'} title={title}>
      {escapeText(text, max)}
    </bdi>
  );
}
