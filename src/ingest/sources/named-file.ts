import type { SourceConfig } from '../../config/run-config.ts';
import { recordedPath } from '../../domain/file-path.ts';
import { ID_NAMES } from '../../formats/transcripts/columns.ts';
import type { NamedEncoding } from './open-source.ts';
import type { FrozenSource } from '../plan/plan-line.ts';

/** Whether a source is a file the user named, rather than one found in a folder or by a glob. */
export function isNamedFile(source: Pick<FrozenSource, 'absolute'>, config: SourceConfig): boolean {
  return recordedPath(config.path) === source.absolute;
}

/** The encoding of a file as its source has it: what is said of a folder holds for the files in it that it fits. */
export function encodingOf({ encoding }: SourceConfig, isNamed: boolean): NamedEncoding | null {
  return encoding === null ? null : { label: encoding, ifFitting: !isNamed };
}

/** Names of the columns in which the ids of a file are looked for, in this order. */
export function idNamesOf({ idColumn }: SourceConfig, isNamed: boolean): readonly string[] {
  if (idColumn === null) return ID_NAMES;
  return isNamed ? [idColumn] : [idColumn, ...ID_NAMES];
}
