import { extname, join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { openFinishedVerdicts } from '../../analysis/finished-verdicts.ts';
import { LineFile } from '../../analysis/line-file.ts';
import { Restrictions } from '../../record/restricted/restrictions.ts';
import { LinesBySeq } from '../index/lines-by-seq.ts';
import { ItemContents } from '../content/item-contents.ts';
import { RunIndexes } from '../index/run-indexes.ts';
import { ContentAccess } from '../runs/content-access.ts';
import { type Labelled, labelsJsonl, labelStudioJson } from './label-files.ts';
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

/**
 * Writes the last review of every reviewed item of a finished run to a new file: `.jsonl` for `replay --labels`, `.json` for
 * Label Studio. The latter has the content too, if this user created or trusts the run (`keyFile`: path of their key file).
 * Failure('usage') for a path that is not a run directory, has another ending, is taken, or is in a run directory;
 * Failure('internal') for a run that is not finished, and for a record or reviews that fail verification.
 */
export async function exportLabels(
  runDir: string,
  out: string,
  { keyFile, signal }: { readonly keyFile: string | null; readonly signal: AbortSignal },
): Promise<ExportedLabels> {
  const format = extname(out);
  if (format !== '.jsonl' && format !== '.json') {
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
      const labelled = { lines, reviews, restrictions };
      const texts =
        format === '.jsonl'
          ? labelsJsonl(labelled, signal)
          : withContent(runDir, labelled, { keyFile, signal });
      for await (const text of texts) await file.write([text]);
    } finally {
      await file.close();
    }
    return { run: record.run, kind: 'labels', out, reviewed: reviews.seqs().length - restricted, restricted };
  } finally {
    await lines.close();
  }
}

/** The user who types the command may read any folder: no root bounds what is shown. */
async function* withContent(
  runDir: string,
  labelled: Labelled,
  { keyFile, signal }: { readonly keyFile: string | null; readonly signal: AbortSignal },
): AsyncGenerator<string, void> {
  const indexes = new RunIndexes();
  const contents = new ItemContents({ access: await ContentAccess.open(['/'], keyFile), indexes });
  const viewer = { client: signal, reviewer: null };
  try {
    yield* labelStudioJson(labelled, (seq) => contents.content(runDir, seq, viewer), signal);
  } finally {
    await contents.close();
    await indexes.close();
  }
}
