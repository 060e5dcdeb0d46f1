import { extname, join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { openFinishedVerdicts } from '../../analysis/finished-verdicts.ts';
import { LineFile } from '../../analysis/line-file.ts';
import { Restrictions } from '../../record/restricted/restrictions.ts';
import { LinesBySeq } from '../index/lines-by-seq.ts';
import { type LabelFile, labelFile } from './label-files.ts';
import { Reviews } from './reviews.ts';

/** The labels of a run as they were written. */
export interface ExportedLabels {
  readonly run: string;
  readonly kind: 'labels';
  /** Absolute path. */
  readonly out: string;
  /** Items with a review that counts, except restricted ones. */
  readonly reviewed: number;
  /** Reviewed items that are restricted, and so not written. */
  readonly restricted: number;
}

const BY_EXTENSION: Readonly<Record<string, LabelFile>> = {
  '.jsonl': 'labels.jsonl',
  '.json': 'label-studio.json',
};

/**
 * Writes the last review of every reviewed item of a finished run to a new file: for `replay --labels`, or for Label Studio.
 * Failure('usage') for a path that is not a run directory or with another ending, that is taken, or is in a run directory;
 * Failure('internal') for a run that is not finished, and for a record or reviews that fail verification.
 */
export async function exportLabels(
  runDir: string,
  out: string,
  signal: AbortSignal,
): Promise<ExportedLabels> {
  const format = BY_EXTENSION[extname(out)];
  if (format === undefined) {
    throw new Failure(
      'usage',
      '--labels: name a file that ends in .jsonl, for replay, or in .json, for Label Studio',
    );
  }
  const { record } = await openFinishedVerdicts(runDir, signal);
  // The verdicts are verified already.
  const lines = await LinesBySeq.scan(join(runDir, RUN_FILES.verdicts), null, signal);
  try {
    const reviews = await Reviews.open({ dir: runDir, run: record.run });
    await reviews.readOn(signal);
    const { policy } = record.config;
    const found = await Restrictions.read(runDir, { run: record.run, policy }, signal);
    let restricted = 0;
    const restrictions: Pick<Restrictions, 'by'> = {
      by: (line) => {
        const by = found.by(line);
        if (by !== null) restricted++;
        return by;
      },
    };
    const file = await LineFile.create(out, '--labels');
    try {
      for await (const text of labelFile(format, { lines, reviews, restrictions }, signal))
        await file.write([text]);
    } finally {
      await file.close();
    }
    return { run: record.run, kind: 'labels', out, reviewed: reviews.seqs().length - restricted, restricted };
  } finally {
    await lines.close();
  }
}
