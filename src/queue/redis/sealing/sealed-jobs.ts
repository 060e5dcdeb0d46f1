import { z } from 'zod';
import type { JobCodec } from '../redis-queue.ts';
import type { FleetSeal } from './fleet-seal.ts';

/** Why a job cannot be read. */
export type Unreadable =
  /** It was not sealed, or not under this key, or for another place. */
  | 'forged'
  /** It was sealed, and this process has no key. */
  | 'sealed'
  /** Its name is none of ours, or not that of its content. */
  | 'misnamed'
  /** It has not the form of this version. */
  | 'malformed';

/** Thrown by a codec for what is no job of ours. Its message quotes nothing of the job. */
export class UnreadableJob extends Error {
  override readonly name = 'UnreadableJob';
  readonly reason: Unreadable;

  constructor(reason: Unreadable, options?: ErrorOptions) {
    super(`the job is ${reason}`, options);
    this.reason = reason;
  }
}

/** What a kind of job says, whatever it is sealed with. */
export interface JobContent<T> {
  /** Names the value within its queue. */
  id(value: T): string;
  encode(value: T): object;
  /** Throws for what is not such a value. */
  decode(data: unknown): T;
}

const SEALED = z.strictObject({ sealed: z.string() });

/** `s-<run>-<pass>-<shard>-<epoch>` of a shard and its result, `f-<run>-<pass>-<epoch>` of a run's end. */
const JOB_ID = /^(?:s-(.+)-\d+-\d+-\d+|f-(.+)-\d+-\d+)$/;
const MAX_JOB_ID = 200;

/** The run that a job's name names; null when it is no name of ours. */
export function runOfJob(jobId: string): string | null {
  if (jobId.length > MAX_JOB_ID) return null;
  const match = JOB_ID.exec(jobId);
  return match?.[1] ?? match?.[2] ?? null;
}

/**
 * The form that a queue's jobs have in Redis: with a seal `{"sealed": …}`, bound to the queue and to the job's name;
 * without one, in the clear. A job is read only under the name that its content has.
 */
export function sealedJobs<T>(content: JobContent<T>, queue: string, seal: FleetSeal | null): JobCodec<T> {
  const opened = (data: unknown, jobId: string): unknown => {
    const run = runOfJob(jobId);
    if (run === null) throw new UnreadableJob('misnamed');
    const { data: envelope } = SEALED.safeParse(data);
    if (seal === null) {
      if (envelope !== undefined) throw new UnreadableJob('sealed');
      return data;
    }
    const text = envelope && seal.open({ run, folder: queue, name: jobId }, envelope.sealed);
    if (text === undefined || text === null) throw new UnreadableJob('forged');
    return JSON.parse(text);
  };
  return {
    id: (value) => content.id(value),
    encode: (value) => {
      const data = content.encode(value);
      if (seal === null) return data;
      const name = content.id(value);
      const run = runOfJob(name);
      if (run === null) throw new Error('a job to be sealed has none of the names that jobs have');
      return { sealed: seal.seal({ run, folder: queue, name }, JSON.stringify(data)) };
    },
    decode: (data, jobId) => {
      const read = opened(data, jobId);
      let value: T;
      try {
        value = content.decode(read);
      } catch (cause) {
        throw new UnreadableJob('malformed', { cause });
      }
      if (content.id(value) !== jobId) throw new UnreadableJob('misnamed');
      return value;
    },
  };
}
