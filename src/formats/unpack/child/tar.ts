import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { hasMagicBytes } from '../../../domain/magic-bytes.ts';
import { piecesOf, type Unpacker } from './unpacker.ts';

/**
 * Unpacks the files of a tar archive, also if it is compressed with gzip, in order. Files of an unsupported kind, such
 * as sparse ones, are problems.
 */
export const untar: Unpacker = async function* (input) {
  const entries = extract();
  const source = piecesOf(input);
  const first = (await source.next()).value ?? Buffer.alloc(0);
  const whole = Readable.from(startingWith(first, source));
  // An error ends the loop over the entries, which then throws it.
  if (hasMagicBytes(first, 'gzip')) pipeline(whole, createGunzip(), entries, () => {});
  else pipeline(whole, entries, () => {});
  for await (const entry of entries) {
    const { name, type, size = null } = entry.header;
    if (type === 'file' || type === 'contiguous-file') {
      yield { name, bytes: size, left: null, stream: () => entry };
    } else if (size !== null && size > 0) yield { problem: 'method', name, bytes: size };
    entry.resume();
  }
};

/** Unpacks the one file in a gzip file. */
export const gunzip: Unpacker = async function* (input) {
  const source = Readable.from(piecesOf(input));
  const stream = (): Readable => pipeline(source, createGunzip(), () => {});
  yield {
    name: input.name.replace(/^.*\/|\.gz$/gi, '').replace(/\.tgz$/i, '.tar'),
    bytes: null,
    left: 0,
    stream,
  };
};

async function* startingWith(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  yield first;
  yield* rest;
}
