import type { ReadRecord } from '../../../formats/record.ts';
import type { RecordLayout } from '../../../ingest/recognise/recognise-layout.ts';
import {
  stretchOf,
  stretchTo,
  addStretch,
  type Addition,
  type Copying,
  type RecordsWriter,
} from './records-writer.ts';

/** Text around elements: that of the source if it matches this pattern, else `instead`. */
interface Part {
  readonly form: RegExp;
  readonly instead: string;
}

interface Parts {
  /** Matches a source without records. */
  readonly none: RegExp;
  readonly opening: Part;
  /** Before every element but the first. */
  readonly separator: Part;
  readonly closing: Part;
}

const NOTHING = /^(?!)/;

const ARRAY: Parts = {
  none: /^\s*\[\s*\][\s\u001a]*$/,
  opening: { form: /^\s*\[\s*$/, instead: '[' },
  separator: { form: /^\s*,\s*$/, instead: ',' },
  closing: { form: /^\s*\][\s\u001a]*$/, instead: ']' },
};

/** A wrapper object around the array is omitted. */
const WRAPPED: Parts = {
  none: NOTHING,
  opening: { form: NOTHING, instead: '[' },
  separator: ARRAY.separator,
  closing: { form: NOTHING, instead: ']\n' },
};

const VALUES: Parts = {
  none: /^[\s,\u001a]*$/,
  opening: { form: /^[\s,]*$/, instead: '' },
  separator: { form: /^[\s,]*$/, instead: '\n' },
  closing: { form: /^[\s,\u001a]*$/, instead: '\n' },
};

/**
 * Elements of a JSON array, or a sequence of JSON values. Elements are written unchanged, with the text before them in
 * the source; the result is valid whichever elements are excluded.
 */
export class ElementRecords implements RecordsWriter {
  readonly #copying: Copying;
  readonly #parts: Parts;
  #isBegun = false;
  #hasElements = false;

  constructor(copying: Copying, layout: RecordLayout['kind']) {
    this.#copying = copying;
    this.#parts = layout === 'json-array' ? ARRAY : layout === 'json-wrapped' ? WRAPPED : VALUES;
  }

  keep(record: ReadRecord, addition: Addition | null): void {
    const { source } = this.#copying;
    const before = this.#before(record);
    if (this.#hasElements) this.#write(this.#parts.separator, before);
    this.#hasElements = true;
    const stretch = stretchOf(source, record);
    addStretch(this.#copying, stretch, addition);
  }

  drop(record: ReadRecord): void {
    this.#before(record);
    stretchTo(this.#copying.source, record.span!.end);
  }

  end(): void {
    const isBegun = this.#isBegun;
    this.#begin();
    const rest = this.#copying.source.textWindow.rest();
    const { none, opening, closing } = this.#parts;
    if (isBegun) this.#write(closing, rest);
    else this.#write({ form: none, instead: opening.instead + closing.instead }, rest);
  }

  /** The text before a record, which is the opening before the first one. */
  #before({ span }: ReadRecord): Buffer | null {
    const isBegun = this.#isBegun;
    this.#begin();
    const before = stretchTo(this.#copying.source, span!.start);
    if (!isBegun) this.#write(this.#parts.opening, before);
    return before;
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#copying.out.add(this.#copying.source.mark);
  }

  #write({ form, instead }: Part, found: Buffer | null): void {
    const isFit = found !== null && form.test(found.toString());
    this.#copying.out.add(isFit ? found : Buffer.from(instead));
  }
}
