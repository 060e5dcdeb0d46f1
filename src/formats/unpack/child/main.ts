import { fstatSync } from 'node:fs';
import { serveLines } from '../../../confinement/serve-lines.ts';
import { FILE_FD, type Request, type UnpackedPart } from '../messages.ts';
import { unpackParts } from './unpack-parts.ts';

/** Entry point of a process that unpacks one file. It runs until its input ends or its parent kills it. */

let parts: AsyncGenerator<UnpackedPart, void> | null = null;

await serveLines(async (request: Request) => {
  if (request.op === 'open') {
    const { name, container, limits } = request;
    parts = unpackParts({ name, fd: FILE_FD, size: fstatSync(FILE_FD).size }, container, limits);
  }
  const next = await parts!.next();
  return { part: next.done === true ? null : next.value };
});
