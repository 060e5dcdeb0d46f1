import { z } from 'zod';
import type { ItemError } from '../../domain/item-error.ts';
import { DECODING_ERRORS, inputArguments, type Running, withFfmpeg } from '../ffmpeg-process.ts';
import { type AudioFormat, audioInput, CLIP_ERRORS } from './audio-format.ts';

/** The requested part of ffprobe's JSON. A cover picture is a video track with `attached_pic` set. */
const REPLY = z.object({
  streams: z.array(
    z.object({
      codec_type: z.string().optional(),
      width: z.number().default(0),
      height: z.number().default(0),
      disposition: z.object({ attached_pic: z.number() }),
    }),
  ),
  format: z.object({ start_time: z.string().default('0') }).default({ start_time: '0' }),
});

/** The tracks of a file. */
export interface Tracks {
  readonly sounds: number;
  /** Tracks of moving pictures. */
  readonly pictures: readonly { readonly width: number; readonly height: number }[];
  /** Start time of the file. */
  readonly startSeconds: number;
}

/** A thousand tracks, ffmpeg's own limit, take a tenth of this. */
const MAX_REPLY_BYTES = 1024 * 1024;

/** Formats that may hold video, or more than one audio track. */
const MANY_TRACKS: ReadonlySet<AudioFormat> = new Set<AudioFormat>(['ogg', 'mov', 'matroska', 'asf', 'avi']);

/** Checks that a clip has exactly one audio track and no video; returns null if so. Throws on abort. */
export async function checkTracks(format: AudioFormat, running: Running): Promise<ItemError | null> {
  const tracks = await readTracks(format, running);
  if ('code' in tracks) return tracks;
  return tracks.pictures.length > 0 ? CLIP_ERRORS.video : null;
}

/**
 * Reads the tracks of a file, or returns why it is refused: it has none, or several audio tracks. Only the first would
 * be judged, without anyone noticing. Throws on abort.
 */
export async function readTracks(format: AudioFormat, running: Running): Promise<Tracks | ItemError> {
  if (!MANY_TRACKS.has(format)) return { sounds: 1, pictures: [], startSeconds: 0 };
  const asked = 'stream=codec_type,width,height:stream_disposition=attached_pic:format=start_time';
  const args = [...inputArguments(audioInput(format)), '-show_entries', asked, '-of', 'json'];
  return withFfmpeg(running, 'ffprobe', args, async ({ output, wait, end }) => {
    const reply = await wait(readReply(output), 0);
    if (reply === null) return DECODING_ERRORS.corrupt;
    const { refusal } = await end(0);
    return refusal ?? parseTracks(reply);
  });
}

/** Reads the whole output of a process; null if it exceeds the limit. */
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

function parseTracks(reply: string): Tracks | ItemError {
  const { streams, format } = REPLY.parse(JSON.parse(reply));
  const pictures = streams.filter(
    ({ codec_type, disposition }) => codec_type === 'video' && disposition.attached_pic === 0,
  );
  const sounds = streams.filter(({ codec_type }) => codec_type === 'audio').length;
  if (sounds + pictures.length === 0) return CLIP_ERRORS.noTrack;
  if (sounds > 1) return CLIP_ERRORS.manyTracks;
  const startSeconds = Number(format.start_time);
  return { sounds, pictures, startSeconds: Number.isFinite(startSeconds) ? startSeconds : 0 };
}
