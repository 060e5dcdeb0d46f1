import { createRequire } from 'node:module';
import { MAX_JOB_BYTES, MAX_OPTIONS_BYTES } from './job-bounds.ts';

interface Script {
  readonly name: string;
  readonly content: string;
  readonly keys: number;
}

const require = createRequire(import.meta.url);
const { version } = require('bullmq/dist/cjs/version.js') as { readonly version: string };
/** The scripts that return a job to a worker. BullMQ does not export them elsewhere. */
const { moveToActive, moveToDelayed, moveToFinished } =
  require('bullmq/dist/cjs/scripts/index.js') as Readonly<
    Record<'moveToActive' | 'moveToDelayed' | 'moveToFinished', Script>
  >;

/** How BullMQ's scripts read a job for a worker: all fields, of any size. */
const WHOLE_JOB = 'rcall("HGETALL", jobKey)';

/** Reads only the fields that our jobs have, without those that are too large: the worker finds the job unreadable. */
const BOUNDED_JOB = `(function()
  local job = {}
  for _, field in ipairs({'data', 'opts', 'timestamp', 'delay', 'ats', 'atm', 'stc', 'processedOn'}) do
    local max = field == 'data' and ${MAX_JOB_BYTES} or ${MAX_OPTIONS_BYTES}
    if rcall("HEXISTS", jobKey, field) == 1 and rcall("HSTRLEN", jobKey, field) <= max then
      job[#job + 1] = field
      job[#job + 1] = rcall("HGET", jobKey, field)
    end
  end
  return job
end)()`;

/** For a worker's connection: BullMQ defines a script only if the connection has none of its name and version. */
export const BOUNDED_SCRIPTS = Object.fromEntries(
  [moveToActive, moveToDelayed, moveToFinished].map(({ name, content, keys }) => {
    const parts = content.split(WHOLE_JOB);
    if (parts.length !== 2) throw new Error(`BullMQ ${version}: the script ${name} is not as expected`);
    return [`${name}:${version}`, { lua: parts.join(BOUNDED_JOB), numberOfKeys: keys }];
  }),
);
