import type { KeyObject } from 'node:crypto';
import { usageError } from './usage-error.ts';
import { webhookSecretFor } from './values/webhook.ts';
import { readSigningKey } from './keys/signing-key.ts';
import { EXPORT_CLEAN, HEAD_FILE, KEEP, ON_FINISH, REPORT } from './settings/entries/after-run.ts';
import { given, type Sources, valueOf, resolveSettings } from './settings/given.ts';

/** Settings for exporting the clean rows of a finished run. */
export interface CleanExport {
  /** Absolute path of a file or folder. */
  readonly out: string;
  /** Whether rows with decision `review` are written too. */
  readonly keepReview: boolean;
}

/**
 * Steps after a run has finished that make a forged record detectable. None of them comes from a run directory, because
 * another user may have written it.
 */
export interface AfterFinish {
  /** Ed25519 private key that signs the manifest, in the process that writes it; null to leave it unsigned. */
  readonly signingKey: KeyObject | null;
  /** Absolute path of the file in which the chain head is noted; null for none. */
  readonly headFile: string | null;
  /** A program, by name or absolute path, and its arguments, or the URL of a webhook; empty if nothing is notified. */
  readonly onFinish: readonly string[];
  /** Key that signs notices to the webhook; null without one. */
  readonly webhookSecret: KeyObject | null;
  /** Null to export nothing. */
  readonly exportClean: CleanExport | null;
  /** Whether report.html is written. */
  readonly report: boolean;
}

/**
 * Resolves these steps from flags and the job file, and the signing key from the environment. Creates the head file, so
 * an unwritable one is detected at the start. Failure('usage') names the first mistake.
 */
export async function resolveAfterFinish(from: Sources): Promise<AfterFinish> {
  const onFinish = (await valueOf(ON_FINISH, from)) ?? [];
  const webhookSecret = webhookSecretFor(onFinish, from.env);
  const signingKey = readSigningKey(from.env);
  const exportClean = await cleanExportOf(from);
  const { headFile, report } = await resolveSettings({ headFile: HEAD_FILE, report: REPORT }, from);
  return { signingKey, headFile, onFinish, webhookSecret, exportClean, report };
}

async function cleanExportOf(from: Sources): Promise<CleanExport | null> {
  const { out, keep } = await resolveSettings({ out: EXPORT_CLEAN, keep: KEEP }, from);
  if (out !== null) return { out, keepReview: keep === 'review' };
  const alone = given(KEEP, from);
  if (alone === null) return null;
  throw usageError(
    alone.texts[0].place,
    'this is about the clean rows: name a file for them with --export-clean',
  );
}
