import { extname } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { openFinishedVerdicts } from '../../analysis/finished-verdicts.ts';
import { LineFile } from '../../analysis/line-file.ts';
import { ItemContents } from '../content/item-contents.ts';
import { RunIndexes } from '../index/run-indexes.ts';
import { ContentAccess } from '../runs/content-access.ts';
import { labelled, labelsJsonl, labelStudioJson } from './label-files.ts';

/** Labels of a run that were written to a file. */
export interface ExportedLabels {
  readonly run: string;
  readonly kind: 'labels';
  /** Absolute path. */
  readonly out: string;
  /** Number of items with a valid review, except restricted ones. */
  readonly reviewed: number;
  /** Number of reviewed items that are restricted and therefore not written. */
  readonly restricted: number;
}

/**
 * Writes the last review of every reviewed item of a finished run to a new file: `.jsonl` for `replay --labels`,
 * `.json` for Label Studio. The latter includes the content if this user created or trusts the run (`keyFile` is the
 * path of their key file). Failure('usage') for a path that is not a run directory, and for an output path that has
 * another ending, exists, or is in a run directory; Failure('internal') for a run that is not finished, and for a
 * record or reviews that fail verification.
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
  const indexes = new RunIndexes();
  try {
    return await indexes.use(runDir, signal, async (index) => {
      const input = await labelled(index, signal);
      const restricted = (await index.lines.read(input.seqs)).filter(
        (line) => input.restrictions.by(line) !== null,
      ).length;
      const file = await LineFile.create(out, '--labels');
      try {
        const texts =
          format === '.jsonl'
            ? labelsJsonl(input, signal)
            : withContent({ runDir, keyFile, indexes }, input, signal);
        for await (const text of texts) await file.write([text]);
      } finally {
        await file.close();
      }
      const reviewed = input.seqs.length - restricted;
      return { run: record.run, kind: 'labels', out, reviewed, restricted };
    });
  } finally {
    await indexes.close();
  }
}

interface ContentPlace {
  readonly runDir: string;
  readonly keyFile: string | null;
  readonly indexes: RunIndexes;
}

/** The user who types the command may read any folder, so content is not limited to roots. */
async function* withContent(
  { runDir, keyFile, indexes }: ContentPlace,
  input: Parameters<typeof labelStudioJson>[0],
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const contents = new ItemContents({ access: await ContentAccess.open(['/'], keyFile), indexes });
  const viewer = { client: signal, reviewer: null };
  try {
    yield* labelStudioJson(input, (seq) => contents.content(runDir, seq, viewer), signal);
  } finally {
    await contents.close();
  }
}
