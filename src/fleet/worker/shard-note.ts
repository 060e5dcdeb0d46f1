import { z } from 'zod';

const NOTE = z.object({
  /** Workers that lacked media files of the shard. */
  lacking: z.array(z.string()),
  /** The items that are judged with nothing else in the process. */
  current: z.array(z.int()),
  /** Workers that have died at this item so far; 0 when there are several. */
  deaths: z.int(),
  /** The items that are not judged again. */
  fatal: z.array(z.int()),
});

/** A worker's note about a shard, for the next worker. */
export type ShardNote = z.infer<typeof NOTE>;

/** The note about a shard; an empty one if there is none that can be read. */
export function parseNote(text: string | null): ShardNote {
  try {
    return NOTE.parse(JSON.parse(text ?? ''));
  } catch {
    return { lacking: [], current: [], deaths: 0, fatal: [] };
  }
}
