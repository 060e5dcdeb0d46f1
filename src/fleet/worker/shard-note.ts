import { z } from 'zod';

const NOTE = z.object({
  /** Workers that lacked media files of the shard. */
  lacking: z.array(z.string()),
  /** Items that are being judged with nothing else in the process. */
  current: z.array(z.int()),
  /** Number of workers that have died at this item so far; 0 if there are several items. */
  deaths: z.int(),
  /** Items that must not be judged again. */
  fatal: z.array(z.int()),
});

/** A worker's note about a shard, for the next worker. */
export type ShardNote = z.infer<typeof NOTE>;

/** Parses the note about a shard; returns an empty one if there is none or it cannot be read. */
export function parseNote(text: string | null): ShardNote {
  try {
    return NOTE.parse(JSON.parse(text ?? ''));
  } catch {
    return { lacking: [], current: [], deaths: 0, fatal: [] };
  }
}
