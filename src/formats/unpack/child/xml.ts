import { SaxesParser } from 'saxes';
import { encodingByMark } from '../../encoding/decoder.ts';

/** The start of an element. */
export interface XmlTag {
  /** Names of the element and its attributes are without prefixes, which writers may choose freely. */
  readonly local: string;
  readonly uri: string;
  readonly attributes: ReadonlyMap<string, string>;
}

interface XmlHandlers {
  readonly open: (tag: XmlTag) => void;
  readonly text: (text: string) => void;
  readonly close: (local: string) => void;
}

/** Real documents nest a few dozen elements. */
const MAX_DEPTH = 1000;

/**
 * Parses an XML file of an office document from its bytes, which are UTF-8 or UTF-16. Throws if it is not well-formed;
 * entities that it defines are not expanded.
 */
export async function readXml(
  bytes: AsyncIterable<Buffer>,
  { open, text, close }: XmlHandlers,
): Promise<void> {
  const parser = new SaxesParser({ xmlns: true, position: false });
  let depth = 0;
  parser.on('opentag', ({ local, uri, attributes }) => {
    if (++depth > MAX_DEPTH) throw new RangeError('nested too deeply');
    // If two attributes have the same name, such as `id` and `r:id`, the one with a prefix counts.
    const all = Object.values(attributes).sort((a, b) => a.prefix.length - b.prefix.length);
    open({ local, uri, attributes: new Map(all.map((each) => [each.local, each.value])) });
  });
  parser.on('closetag', ({ local }) => {
    depth--;
    close(local);
  });
  parser.on('text', text);
  parser.on('cdata', text);
  parser.on('error', (error) => {
    throw error;
  });
  let decoder = new TextDecoder('utf-8', { fatal: true });
  let isFirst = true;
  for await (const piece of bytes) {
    if (isFirst) decoder = new TextDecoder(encodingByMark(piece) ?? 'utf-8', { fatal: true });
    isFirst = false;
    parser.write(decoder.decode(piece, { stream: true }));
  }
  parser.write(decoder.decode()).close();
}

/** Decodes escaped characters in SpreadsheetML strings, such as `_x0041_` (ECMA-376 Part 1, 22.9.2.19). */
export function unescapeCharacters(text: string): string {
  return text.replace(/_x([0-9a-f]{4})_/gi, (_escape, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
