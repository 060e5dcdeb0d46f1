import { extname } from 'node:path';
import type { GuardPool } from '../guard/pool/pool.ts';
import type { SourceSnapshot } from '../ingest/sources/sources-file.ts';

/** Usual file extensions of audio clips. The real type is detected from the content later. */
const CLIP_EXTENSIONS: ReadonlySet<string> = new Set(
  '.mp3 .wav .flac .ogg .oga .opus .m4a .aac .wma .amr .aif .aiff .au .caf .ape .wv .mpc .dsf'.split(' '),
);

/** Audio clips that will not be judged, because no guard has a probe for them. */
export interface UnheardClips {
  /** Guards in use. */
  readonly guards: number;
  /**
   * Files with an audio extension; null if which of them have a transcript is only known once their manifest is read.
   */
  readonly clips: number | null;
  /** Whether clips with a transcript are judged. */
  readonly onlyWithoutTranscript: boolean;
}

/** Finds the audio clips among the sources that no guard judges; null when there are none. */
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
  // A manifest may describe only some of the clips, which is not known before it is read.
  if (clips.listed > 0) return { guards, clips: null, onlyWithoutTranscript: true };
  return clips.without === 0 ? null : { guards, clips: clips.without, onlyWithoutTranscript: true };
}
