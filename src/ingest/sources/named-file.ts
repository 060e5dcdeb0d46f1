import type { SourceConfig } from '../../config/run-config.ts';
import { encodePath } from '../../domain/file-path.ts';
import { ID_NAMES } from '../../formats/transcripts/columns.ts';
import type { NamedEncoding } from './open-source.ts';
import type { SourceSnapshot } from './sources-file.ts';

/** Whether the user named this file, rather than a folder or a glob that it was found by. */
export function isNamedFile(source: Pick<SourceSnapshot, 'absolute'>, config: SourceConfig): boolean {
  return encodePath(config.path) === source.absolute;
}

/** The configured encoding of a file. One that is configured for a folder applies only to the files that it fits. */
export function encodingOf({ encoding }: SourceConfig, isNamed: boolean): NamedEncoding | null {
  return encoding === null ? null : { label: encoding, ifFitting: !isNamed };
}

/** Names of columns that may contain the id, in order of preference. */
export function idNamesOf({ idColumn }: SourceConfig, isNamed: boolean): readonly string[] {
  if (idColumn === null) return ID_NAMES;
  return isNamed ? [idColumn] : [idColumn, ...ID_NAMES];
}
