import { z } from 'zod';
import type { ItemError } from '../../domain/item-error.ts';
import { DECODING_ERRORS, inputArguments, type Running, withFfmpeg } from '../ffmpeg-process.ts';
import { type AudioFormat, audioInput, CLIP_ERRORS } from './audio-format.ts';

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

/** Formats that may hold video, or more than one audio track. */
const MANY_TRACKS: ReadonlySet<AudioFormat> = new Set<AudioFormat>(['ogg', 'mov', 'matroska', 'asf']);

/**
 * Checks that a clip has exactly one audio track and no video; returns null if so. If it had several tracks, only the
 * first would be judged, and nobody would know. Throws on abort.
 */
export async function checkTracks(format: AudioFormat, running: Running): Promise<ItemError | null> {
  if (!MANY_TRACKS.has(format)) return null;
  const asked = 'stream=codec_type:stream_disposition=attached_pic';
  const args = [...inputArguments(audioInput(format)), '-show_entries', asked, '-of', 'json'];
  return withFfmpeg(running, 'ffprobe', args, async ({ output, wait, end }) => {
    const reply = await wait(readReply(output), 0);
    if (reply === null) return DECODING_ERRORS.corrupt;
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
  if (hasPictures) return CLIP_ERRORS.video;
  const tracks = streams.filter(({ codec_type }) => codec_type === 'audio').length;
  if (tracks === 0) return CLIP_ERRORS.noTrack;
  return tracks > 1 ? CLIP_ERRORS.manyTracks : null;
}
