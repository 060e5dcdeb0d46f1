import { setMaxListeners } from 'node:events';
import { onTestFinished } from 'vitest';
import { runFleetSink, type SinkObserver } from '../../src/fleet/sink/fleet-sink.ts';
import type { RedisLink } from '../../src/queue/redis/link.ts';

const nothing = (): void => {};

/** A sink at work for the rest of the test, for the runs below a folder. Gives what it says, and how it ended. */
export function sinkAtWork(
  link: RedisLink,
  root: string,
  { observer = {}, headFile = null }: { observer?: Partial<SinkObserver>; headFile?: string | null } = {},
): { readonly said: readonly string[]; readonly end: () => Promise<unknown> } {
  const said: string[] = [];
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const silent = {
    held: nothing,
    committed: nothing,
    diskFull: nothing,
    finished: nothing,
    dropped: nothing,
  };
  const ended = runFleetSink({
    link,
    id: 'a-sink',
    roots: [root],
    keyFile: null,
    say: (line: string) => said.push(line),
    observer: { ...silent, ...observer },
    afterFinish: { signingKey: null, headFile },
    drain: stop.signal,
    stop: stop.signal,
  }).catch((error: unknown) => error);
  const end = (): Promise<unknown> => {
    stop.abort(new Error('the test is over'));
    return ended;
  };
  onTestFinished(async () => void (await end()));
  return { said, end };
}
