import { z } from 'zod';
import type { ItemError } from '../../domain/item-error.ts';
import type { Container } from './container.ts';
import { inputArguments, type Running, withFfmpeg } from './ffmpeg-process.ts';
import { REFUSALS } from './refusals.ts';

/** The requested part of ffprobe's JSON. A cover picture is a video track with `attached_pic` set. */
const REPLY = z.object({
  streams: z.array(
    z.object({
      codec_type: z.string().optional(),
      disposition: z.object({ attached_pic: z.number() }),
    }),
  ),
});

/** A thousand tracks, ffmpeg's own limit, take a tenth of this. */
const MAX_REPLY_BYTES = 1024 * 1024;

/**
 * Why a file in a container that may hold several tracks cannot be judged; null if it holds exactly one audio track and
 * no video. Of several tracks only the first would be judged, silently. Throws on abort.
 */
export function refusalByTracks(container: Container, running: Running): Promise<ItemError | null> {
  const asked = 'stream=codec_type:stream_disposition=attached_pic';
  const args = [...inputArguments(container), '-show_entries', asked, '-of', 'json'];
  return withFfmpeg(running, 'ffprobe', args, async ({ output, wait, end }) => {
    const reply = await wait(readReply(output), 0);
    if (reply === null) return REFUSALS.corrupt;
    const { refusal } = await end(0);
    return refusal ?? judgeTracks(reply);
  });
}

/** The whole output of a process; null if it exceeds the limit. */
async function readReply(output: AsyncIterable<Buffer>): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of output) {
    bytes += chunk.length;
    if (bytes > MAX_REPLY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function judgeTracks(reply: string): ItemError | null {
  const { streams } = REPLY.parse(JSON.parse(reply));
  const hasPictures = streams.some(
    ({ codec_type, disposition }) => codec_type === 'video' && disposition.attached_pic === 0,
  );
  if (hasPictures) return REFUSALS.pictures;
  const tracks = streams.filter(({ codec_type }) => codec_type === 'audio').length;
  if (tracks === 0) return REFUSALS.noTrack;
  return tracks > 1 ? REFUSALS.manyTracks : null;
}
