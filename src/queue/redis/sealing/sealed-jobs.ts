import { z } from 'zod';
import type { JobCodec } from '../redis-queue.ts';
import type { FleetSeal, SealedPlace } from './fleet-seal.ts';

/** Why a job cannot be read. */
export type Unreadable =
  /** Not sealed, or sealed with another key or for another place. */
  | 'forged'
  /** Sealed, and this process has no key. */
  | 'sealed'
  /** Its name is not one of ours, or does not match its content. */
  | 'misnamed'
  /** It does not match the schema of this version. */
  | 'malformed';

/** Thrown by a codec for a job that is not one of ours. The message does not quote the job. */
export class UnreadableJob extends Error {
  override readonly name = 'UnreadableJob';
  readonly reason: Unreadable;

  constructor(reason: Unreadable, options?: ErrorOptions) {
    super(`the job is ${reason}`, options);
    this.reason = reason;
  }
}

/** Encodes the content of one kind of job, before sealing. */
export interface JobContent<T> {
  /** The job ID of a value, unique in its queue. */
  id(value: T): string;
  encode(value: T): Buffer;
  /** Throws if the bytes do not encode such a value. */
  decode(encoded: Buffer): T;
}

const SEALED = z.strictObject({ sealed: z.string() });
const PLAIN = z.strictObject({ plain: z.string() });

/** `s-<run>-<pass>-<shard>-<epoch>` for a shard and its result, `f-<run>-<pass>-<epoch>` for the end of a run. */
const JOB_ID = /^(?:s-(.+)-\d+-\d+-\d+|f-(.+)-\d+-\d+)$/;
const MAX_JOB_ID = 200;

/** The run in the name of a job; null if the name is not one of ours. */
export function runOfJob(jobId: string): string | null {
  if (jobId.length > MAX_JOB_ID) return null;
  const match = JOB_ID.exec(jobId);
  return match?.[1] ?? match?.[2] ?? null;
}

/**
 * Codec for the jobs of a queue in Redis: with a seal `{"sealed": …}`, bound to the queue and to the name of the job;
 * without one `{"plain": …}`; both in base64. A job is accepted only if its name matches its content.
 */
export function sealedJobs<T>(content: JobContent<T>, queue: string, seal: FleetSeal | null): JobCodec<T> {
  const opened = (data: unknown, jobId: string): Buffer => {
    const run = runOfJob(jobId);
    if (run === null) throw new UnreadableJob('misnamed');
    const { data: envelope } = SEALED.safeParse(data);
    if (seal === null) {
      if (envelope !== undefined) throw new UnreadableJob('sealed');
      const { data: plain } = PLAIN.safeParse(data);
      if (plain === undefined) throw new UnreadableJob('malformed');
      return Buffer.from(plain.plain, 'base64');
    }
    const place = { run, folder: queue, name: jobId };
    const bytes = envelope && seal.openBytes(place, Buffer.from(envelope.sealed, 'base64'));
    if (bytes === undefined || bytes === null) throw new UnreadableJob('forged');
    return bytes;
  };
  return {
    id: (value) => content.id(value),
    encode: (value) => {
      const bytes = content.encode(value);
      if (seal === null) return bytes;
      const name = content.id(value);
      const run = runOfJob(name);
      if (run === null) throw new Error('a job to be sealed has an unknown form of name');
      return seal.sealBytes({ run, folder: queue, name }, bytes);
    },
    envelope: (bytes) => ({ [seal === null ? 'plain' : 'sealed']: bytes.toString('base64') }),
    decode: (data, jobId) => {
      const bytes = opened(data, jobId);
      let value: T;
      try {
        value = content.decode(bytes);
      } catch (cause) {
        throw new UnreadableJob('malformed', { cause });
      }
      if (content.id(value) !== jobId) throw new UnreadableJob('misnamed');
      return value;
    },
    sealNote: (jobId, note) => (seal === null ? note : seal.seal(placeOfNote(queue, jobId), note)),
    openNote: (jobId, sealed) => (seal === null ? sealed : seal.open(placeOfNote(queue, jobId), sealed)),
  };
}

/** Binds a sealed note to its job. */
function placeOfNote(queue: string, jobId: string): SealedPlace {
  return { run: runOfJob(jobId) ?? '', folder: `note on ${queue}`, name: jobId };
}
