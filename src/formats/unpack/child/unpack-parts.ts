import { hasMagicBytes } from '../../../domain/magic-bytes.ts';
import { type Container, containerKind } from '../container-kind.ts';
import { MAX_PART_BYTES, type UnpackedPart, type UnpackLimits, type Why } from '../messages.ts';
import { type Budget, type Input, PartTooLarge, TooLarge, type Unpacked, type Unpacker } from './unpacker.ts';

/** Loads the unpacker of a kind of files, with its library. */
const UNPACKERS: Readonly<Record<Container, () => Promise<Unpacker>>> = {
  zip: async () => (await import('./zip.ts')).unzip,
  tar: async () => (await import('./tar.ts')).untar,
  gzip: async () => (await import('./tar.ts')).gunzip,
  html: async () => (await import('./html.ts')).unpackHtml,
  pdf: async () => (await import('./pdf.ts')).unpackPdf,
  svg: async () => (await import('./html.ts')).unpackHtml,
  mail: async () => (await import('./mail.ts')).unpackMail,
  mbox: async () => (await import('./mbox.ts')).unpackMbox,
};

/** Maximum characters of a name. Longer names are truncated at the beginning. */
const MAX_NAME_LENGTH = 300;

/** Thrown to end unpacking. */
class Over extends Error {}

/** A file may expand to this size regardless of its ratio: a few bytes can contain a long text of one letter. */
const FREE_BYTES = 16 * 1024 * 1024;

/** The size and number of parts to which a file may still expand. */
class FileBudget implements Budget {
  #parts: number;
  #bytes: number;

  constructor({ parts, bytes, ratio }: Pick<UnpackLimits, 'parts' | 'bytes' | 'ratio'>, fileBytes: number) {
    this.#parts = parts;
    this.#bytes = Math.min(bytes, Math.max(FREE_BYTES, fileBytes * ratio));
  }

  /** Number of bytes left. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts a part. Returns whether there is room for it. */
  takePart(): boolean {
    return this.#parts-- > 0;
  }

  /** Counts unpacked bytes. Returns whether there is room for them. */
  takeBytes(bytes: number): boolean {
    this.#bytes -= bytes;
    return this.#bytes >= 0;
  }
}

/** Yields the parts of a file, at all depths, within the limits. */
export async function* unpackParts(
  input: Extract<Input, { readonly fd: number }>,
  container: Container,
  limits: UnpackLimits,
): AsyncGenerator<UnpackedPart, void> {
  try {
    // Compression alone does not add a level of depth.
    yield* new Parts(limits, input.size).of(input, container, '', container === 'gzip' ? 0 : 1);
  } catch (error) {
    if (!(error instanceof Over)) throw error;
  }
}

class Parts {
  readonly #depth: number;
  readonly #budget: FileBudget;

  constructor(limits: UnpackLimits, fileBytes: number) {
    this.#depth = limits.depth;
    this.#budget = new FileBudget(limits, fileBytes);
  }

  /** `prefix` begins the names of the parts, and ends with a slash unless it is empty. */
  async *of(
    input: Input,
    container: Container,
    prefix: string,
    depth: number,
  ): AsyncGenerator<UnpackedPart, void> {
    let isEmpty = true;
    try {
      const unpacker = await UNPACKERS[container]();
      for await (const found of unpacker(input, this.#budget)) {
        isEmpty = false;
        yield* this.#found(found, prefix, depth);
      }
    } catch (error) {
      if (error instanceof Over) throw error;
      if (error instanceof TooLarge) yield* this.#over('too-large', null);
      if (error instanceof PartTooLarge) yield problem('part-too-large', prefix, error.bytes);
      else yield problem('damaged', prefix);
      return;
    }
    if (isEmpty && prefix !== '') yield problem('empty', prefix);
  }

  async *#found(found: Unpacked, prefix: string, depth: number): AsyncGenerator<UnpackedPart, void> {
    const name = prefix + found.name;
    if (!this.#budget.takePart()) yield* this.#over('too-many', found);
    if ('problem' in found) {
      yield problem(found.problem, name, found.bytes, found.parts);
      return;
    }
    if ('text' in found) {
      if (!this.#budget.takeBytes(Buffer.byteLength(found.text))) yield* this.#over('too-large', found);
      yield { kind: 'text', name: shortened(name), text: found.text };
      return;
    }
    if ('csv' in found) {
      if (!this.#budget.takeBytes(found.csv.length)) yield* this.#over('too-large', null);
      yield { kind: 'table', name: shortened(name), base64: found.csv.toString('base64') };
      return;
    }
    if (found.bytes !== null && found.bytes > this.#budget.bytes) yield* this.#over('too-large', found);
    if (found.bytes !== null && found.bytes > MAX_PART_BYTES) {
      yield problem('part-too-large', name, found.bytes);
      return;
    }
    const bytes = await this.#read(found);
    if (bytes instanceof TooLarge) yield* this.#over('too-large', found);
    else if (bytes instanceof PartTooLarge) yield problem('part-too-large', name, bytes.bytes);
    else if (bytes instanceof Buffer) yield* this.#file({ name, bytes }, depth);
    else yield problem('damaged', name, found.bytes);
  }

  async *#file(file: { readonly name: string; readonly bytes: Buffer }, depth: number) {
    const { name, bytes } = file;
    const isCompressed = hasMagicBytes(bytes, 'gzip');
    const container = isCompressed ? 'gzip' : containerKind(bytes, { isCompressed, name });
    if (container === null) {
      yield { kind: 'file', name: shortened(name), base64: bytes.toString('base64') } as const;
    } else if (depth >= this.#depth) yield problem('too-deep', name, bytes.length);
    // Compression alone does not add a level of depth.
    else yield* this.of(file, container, `${name}/`, isCompressed ? depth : depth + 1);
  }

  /** Reads the bytes of a file, or returns the error if that fails. */
  async #read({ stream }: Extract<Unpacked, { readonly stream: unknown }>): Promise<Buffer | Error> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const piece of (await stream()) as AsyncIterable<Buffer>) {
        bytes += piece.length;
        if (!this.#budget.takeBytes(piece.length)) throw new TooLarge();
        if (bytes > MAX_PART_BYTES) throw new PartTooLarge(bytes);
        pieces.push(piece);
      }
      return Buffer.concat(pieces, bytes);
    } catch (error) {
      return error as Error;
    }
  }

  /** Ends unpacking at the part that exceeds the budget; `found` is null if that part is unknown. */
  async *#over(why: Why, found: Unpacked | null): AsyncGenerator<UnpackedPart, never> {
    const left = found !== null && 'left' in found ? (found.left ?? null) : null;
    yield { kind: 'problem', name: '', why, bytes: null, parts: left === null ? null : left + 1 };
    throw new Over();
  }
}

function problem(
  why: Why,
  name: string,
  bytes: number | null = null,
  parts: number | null = null,
): UnpackedPart {
  return { kind: 'problem', name: shortened(name.replace(/\/$/, '')), why, bytes, parts };
}

function shortened(name: string): string {
  const text = name.toWellFormed();
  return text.length <= MAX_NAME_LENGTH ? text : `…${text.slice(-MAX_NAME_LENGTH).toWellFormed()}`;
}
