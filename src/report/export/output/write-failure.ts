import { Failure } from '../../../domain/failure.ts';
import { isDiskFull } from '../../../files/disk-full.ts';

/** An error of the file system while an export is written: Failure('service') for a full disk, else 'usage'. */
export function writeFailure(cause: unknown): Failure {
  if (isDiskFull(cause)) {
    return new Failure('service', 'the disk is full: nothing was exported; make room and export again', {
      cause,
    });
  }
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new Failure('usage', `the export cannot be written${code}: choose another place for it`, { cause });
}
