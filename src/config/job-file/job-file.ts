import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { checkShape } from '../yaml/check-shape.ts';
import {
  AUDITS,
  HEADERS,
  LAYOUTS,
  LONG_AUDIO,
  LONG_TEXT,
  MAX_FRAMES,
  OUTPUT_FORMATS,
} from '../run-config.ts';
import { assertOwnJobFile } from './job-file-owner.ts';
import { readYamlFile, type YamlFile } from '../yaml/yaml-file.ts';

const text = z.string().min(1);
const rate = z.number().min(0).max(1);

/** A text or several: most jobs have one guard and one text column. */
const oneOrMore = (what: string) =>
  z.union([text, z.array(text).min(1)], { error: `${what}, or a list of them` });

const SOURCE_SCHEMA = z.strictObject({
  path: text.meta({ description: 'File, folder or glob, relative to this file.' }),
  text: oneOrMore('the name of a text column')
    .optional()
    .meta({ description: 'Columns to judge; several are joined. Default: recognised by name.' }),
  id: text.optional().meta({ description: 'Column that holds the id. Default: id, uuid or custom_id.' }),
  audit: z
    .enum(AUDITS)
    .optional()
    .meta({ description: 'Judge a conversation once, as a whole (final, the default), or at every turn.' }),
  encoding: text.optional().meta({
    description:
      'WHATWG encoding label, such as windows-1252. Default: UTF-8, or UTF-16 or UTF-32 by its mark.',
  }),
  layout: z.enum(LAYOUTS).optional().meta({ description: 'How to read it. Default: recognised by content.' }),
  header: z.enum(HEADERS).optional().meta({
    description: 'Whether the first row of a table names its columns. Default: told from the rows.',
  }),
});

/** Shape of a job file. What a key means beyond its shape is checked where the configuration is resolved. */
export const JOB_SCHEMA = z
  .strictObject({
    name: text.optional().meta({
      description:
        'Part of the run directory’s name: lower-case letters, digits, hyphens. Default: this file’s name.',
    }),
    sources: z.array(SOURCE_SCHEMA).min(1).meta({ description: 'What to moderate, in this order.' }),
    guard: oneOrMore('a guard URL such as grpc://gpu-1:8001').optional().meta({
      description:
        'Guard endpoints: grpc://host:8001, grpcs://host:8001, https://host, http://host:9000 (REST), "embedded:" (the default).',
    }),
    policy: text.optional().meta({ description: 'Policy file, relative to this file. Default: none.' }),
    output: z
      .strictObject({
        dir: text
          .optional()
          .meta({ description: 'Folder for run directories, relative to this file. Default: runs.' }),
        formats: z
          .array(z.enum(OUTPUT_FORMATS))
          .min(1)
          .optional()
          .meta({ description: 'Final files; jsonl is always among them. Default: jsonl and csv.' }),
      })
      .optional()
      .meta({ description: 'Where the record goes.' }),
    failIf: z
      .strictObject({
        flaggedRate: rate
          .optional()
          .meta({ description: 'Exit with 3 when a larger share of verdicts is review or block.' }),
        errorRate: rate
          .optional()
          .meta({ description: 'Exit with 3 when a larger share of items could not be judged.' }),
      })
      .optional()
      .meta({ description: 'Gates for pipelines, as shares of 0 to 1. Default: none.' }),
    frames: z.int().min(1).max(MAX_FRAMES).optional().meta({
      description: 'Most frames or pages of one image that are judged, evenly spaced. Default: 8.',
    }),
    longAudio: z.enum(LONG_AUDIO).optional().meta({
      description:
        'Clips over 300 s: all of it in windows (the default), or only the first 300 s (truncate).',
    }),
    longText: z.enum(LONG_TEXT).optional().meta({
      description:
        "Texts beyond the guard's context: all of it in windows (the default), or an error (error).",
    }),
    expectFingerprint: text.optional().meta({
      description: 'Stop with 4 unless every guard answers with this fingerprint id. Default: any.',
    }),
    allowErrors: z
      .boolean()
      .optional()
      .meta({ description: 'Exit with 0 although some items were not judged. Default: false.' }),
    allowEmpty: z
      .boolean()
      .optional()
      .meta({ description: 'Exit with 0 although the sources hold no item. Default: false.' }),
    headFile: text.optional().meta({
      description:
        'File outside of run directories in which the chain head of each finished pass is noted, relative to this file. Default: none.',
    }),
    onFinish: oneOrMore('a program').optional().meta({
      description:
        'Program that is run, without a shell, when the run is finished, and its arguments. Default: none.',
    }),
    maxWait: text
      .optional()
      .meta({ description: 'How long to wait while no guard is ready: 30s, 10m, 2h. Default: 10m.' }),
  })
  .meta({ title: 'guardsweep job file' });

export interface JobFile {
  readonly yaml: YamlFile;
  readonly job: z.output<typeof JOB_SCHEMA>;
  /** Absolute folder of the file, against which its paths resolve. */
  readonly folder: string;
}

/** Whether an argument of `enqueue` names a job file rather than a corpus. */
export function isJobFile(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}

/**
 * Reads a job file. Failure('usage') for the first mistake in it, with its line and column, and for a file that somebody
 * else can change.
 */
export async function readJobFile(path: string, cwd: string): Promise<JobFile> {
  const absolute = resolve(cwd, path);
  const yaml = await readYamlFile(absolute, { value: path, place: 'argument' }, (stats) =>
    assertOwnJobFile(stats, path),
  );
  return { yaml, job: checkShape(JOB_SCHEMA, yaml), folder: dirname(absolute) };
}
