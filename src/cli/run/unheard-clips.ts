import { extname } from 'node:path';
import { plural } from '../../domain/text/plural.ts';
import type { GuardPool } from '../../guard/pool/pool.ts';
import type { FrozenSource } from '../../ingest/plan/plan-line.ts';

/** Names that clips usually have. What a file is, its content tells when it is read. */
const CLIP_NAMES: ReadonlySet<string> = new Set(
  '.mp3 .wav .flac .ogg .oga .opus .m4a .aac .wma .amr .aif .aiff .au .caf .ape .wv .mpc .dsf'.split(' '),
);

/**
 * What is to be said before a run about clips that will not be judged, because no guard has a probe for them; null when
 * there are none. Their number is that of the files with the name of a clip.
 */
export async function unheardClips(
  sources: readonly FrozenSource[],
  pool: Pick<GuardPool, 'notJudged' | 'status'>,
  signal: AbortSignal,
): Promise<string | null> {
  const clips = { without: 0, with: 0, listed: 0 };
  for (const { absolute, sidecar, manifest } of sources) {
    if (!CLIP_NAMES.has(extname(absolute).toLowerCase())) continue;
    if (sidecar !== null) clips.with++;
    else if (manifest !== null) clips.listed++;
    else clips.without++;
  }
  const unheard = async (described: boolean): Promise<boolean> =>
    (await pool.notJudged({ modality: 'audio', described }, signal)) !== null;
  if (clips.without + clips.with + clips.listed === 0 || !(await unheard(false))) return null;
  const guards = pool.status().length === 1 ? 'this guard has' : 'these guards have';
  const begin = `${guards} no audio probe`;
  if (clips.with + clips.listed > 0 && (await unheard(true))) {
    return `${begin}: ${counted(clips.without + clips.with + clips.listed)} will not be judged`;
  }
  // A manifest may describe some of the clips and not the others, which is seen when it is read.
  if (clips.listed > 0) return `${begin}: clips without a transcript will not be judged`;
  return clips.without === 0
    ? null
    : `${begin}: ${counted(clips.without)} without a transcript will not be judged`;
}

function counted(clips: number): string {
  return `${clips.toLocaleString('en-US')} ${plural(clips, 'clip')}`;
}
