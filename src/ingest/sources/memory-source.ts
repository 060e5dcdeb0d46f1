import { chooseDecoder, encodingByMark } from '../../formats/encoding/decoder.ts';
import type { OpenSource, SourceHead } from './open-source.ts';

/** A file that is completely in memory. It is read like an open file. */
export class MemorySource implements Pick<OpenSource, 'text' | 'reread'> {
  /** The whole file. */
  readonly head: SourceHead;

  constructor(raw: Buffer) {
    const decoder = chooseDecoder(null, raw);
    const text = Buffer.concat([decoder.write(raw), decoder.end()]);
    const marked = encodingByMark(raw);
    const isUtf8 = marked === null || marked === 'utf-8';
    const whole = { isComplete: true, isCompressed: false, textStart: null, encoding: null, isUtf8 };
    this.head = { raw, text, ...whole };
  }

  async *text(): AsyncGenerator<Buffer, void> {
    yield this.head.text;
  }

  async *reread(from: number): AsyncGenerator<Buffer, void> {
    yield this.head.text.subarray(from);
  }
}
