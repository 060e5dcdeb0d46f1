import { createRequire } from 'node:module';
import { MAX_JOB_BYTES, MAX_OPTIONS_BYTES } from './job-bounds.ts';

interface Script {
  readonly name: string;
  readonly content: string;
  readonly keys: number;
}

const require = createRequire(import.meta.url);
const { version } = require('bullmq/dist/cjs/version.js') as { readonly version: string };
/** Those that hand out a job. BullMQ exports them nowhere else. */
const { moveToActive, moveToDelayed, moveToFinished } =
  require('bullmq/dist/cjs/scripts/index.js') as Readonly<
    Record<'moveToActive' | 'moveToDelayed' | 'moveToFinished', Script>
  >;

/** What BullMQ's scripts hand out of a job that they gave to a worker: all of it, whatever that is. */
const WHOLE_JOB = 'rcall("HGETALL", jobKey)';

/** Of a job what our own have, without what is too large for one of ours: who takes it finds it unreadable. */
const BOUNDED_JOB = `(function()
  local job = {}
  for _, field in ipairs({'data', 'opts', 'timestamp', 'delay', 'ats', 'atm', 'stc', 'processedOn'}) do
    local most = field == 'data' and ${MAX_JOB_BYTES} or ${MAX_OPTIONS_BYTES}
    if rcall("HEXISTS", jobKey, field) == 1 and rcall("HSTRLEN", jobKey, field) <= most then
      job[#job + 1] = field
      job[#job + 1] = rcall("HGET", jobKey, field)
    end
  end
  return job
end)()`;

/** For the connection of a worker: BullMQ defines a script only where there is none of its name and version. */
export const BOUNDED_SCRIPTS = Object.fromEntries(
  [moveToActive, moveToDelayed, moveToFinished].map(({ name, content, keys }) => {
    const parts = content.split(WHOLE_JOB);
    if (parts.length !== 2) throw new Error(`BullMQ ${version} has another ${name} than is known`);
    return [`${name}:${version}`, { lua: parts.join(BOUNDED_JOB), numberOfKeys: keys }];
  }),
);
