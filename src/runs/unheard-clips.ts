import { extname } from 'node:path';
import type { GuardPool } from '../guard/pool/pool.ts';
import type { SourceSnapshot } from '../ingest/sources/sources-file.ts';

/** Usual file extensions of clips. What a file really is, its content tells when it is read. */
const CLIP_EXTENSIONS: ReadonlySet<string> = new Set(
  '.mp3 .wav .flac .ogg .oga .opus .m4a .aac .wma .amr .aif .aiff .au .caf .ape .wv .mpc .dsf'.split(' '),
);

/** Clips that will not be judged, because no guard has a probe for them. */
export interface UnheardClips {
  /** Guards in use. */
  readonly guards: number;
  /** Files with the extension of a clip; null when only reading their manifest tells which of them have a transcript. */
  readonly clips: number | null;
  /** Whether clips with a transcript are judged. */
  readonly onlyWithoutTranscript: boolean;
}

/** The clips among the sources that no guard judges; null when there are none. */
export async function unheardClips(
  sources: readonly SourceSnapshot[],
  pool: Pick<GuardPool, 'notJudged' | 'status'>,
  signal: AbortSignal,
): Promise<UnheardClips | null> {
  const clips = { without: 0, with: 0, listed: 0 };
  for (const { absolute, sidecar, manifest } of sources) {
    if (!CLIP_EXTENSIONS.has(extname(absolute).toLowerCase())) continue;
    if (sidecar !== null) clips.with++;
    else if (manifest !== null) clips.listed++;
    else clips.without++;
  }
  const unheard = async (described: boolean): Promise<boolean> =>
    (await pool.notJudged({ modality: 'audio', described }, signal)) !== null;
  const all = clips.without + clips.with + clips.listed;
  if (all === 0 || !(await unheard(false))) return null;
  const guards = pool.status().length;
  if (clips.with + clips.listed > 0 && (await unheard(true))) {
    return { guards, clips: all, onlyWithoutTranscript: false };
  }
  // A manifest may describe some of the clips and not the others, which is seen when it is read.
  if (clips.listed > 0) return { guards, clips: null, onlyWithoutTranscript: true };
  return clips.without === 0 ? null : { guards, clips: clips.without, onlyWithoutTranscript: true };
}
