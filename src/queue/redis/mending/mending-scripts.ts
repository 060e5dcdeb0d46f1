/** Max delayed jobs that are promoted per call because their delay is out of range. */
const MAX_PROMOTED = 10_000;

/**
 * Removes keys of a queue that do not have the type that BullMQ expects (its source, src/commands/*.lua), or that our
 * queues never have: finished jobs are not kept, there are no child jobs, and jobs in the list of a paused queue would
 * wait forever. KEYS[1]: the prefix of the queue's keys, with a colon at the end. ARGV: max interval between checks for
 * stalled jobs, and max delay of a job, both in milliseconds. Returns the names of the removed keys.
 */
export const MEND_KEYS = `
local types = {wait = 'list', active = 'list', delayed = 'zset', prioritized = 'zset', marker = 'zset', meta = 'hash',
  stalled = 'set', ['stalled-check'] = 'string', pc = 'string', id = 'string',
  paused = 'never', completed = 'never', failed = 'never', ['waiting-children'] = 'never',
  limiter = 'never', ['repeat'] = 'never', de = 'never'}
local removed = {}
for name, expected in pairs(types) do
  local key = KEYS[1] .. name
  local kind = redis.call('TYPE', key).ok
  local fits = kind == expected
  if fits and (name == 'pc' or name == 'id') then
    fits = redis.call('STRLEN', key) <= 15 and redis.call('GET', key):match('^%d+$')
  end
  if fits and name == 'stalled-check' then
    local left = redis.call('PTTL', key)
    fits = left >= 0 and left <= tonumber(ARGV[1])
  end
  if kind ~= 'none' and not fits then
    redis.call('UNLINK', key)
    removed[#removed + 1] = key
  end
end
-- Nothing reads events, and no event can be added after one with the highest ID.
redis.call('UNLINK', KEYS[1] .. 'events')
local meta = KEYS[1] .. 'meta'
if redis.call('HDEL', meta, 'paused', 'concurrency', 'max', 'duration') > 0 then removed[#removed + 1] = meta end
redis.call('HSET', meta, 'opts.maxLenEvents', 0)
-- The score of a delayed job is its end in milliseconds times 4096. BullMQ ignores negative ones.
local delayed = KEYS[1] .. 'delayed'
local now = redis.call('TIME')
local latest = string.format('(%.0f', (now[1] * 1000 + ARGV[2]) * 4096)
local promoted = redis.call('ZRANGEBYSCORE', delayed, '-inf', '(0', 'LIMIT', 0, ${MAX_PROMOTED})
for _, id in ipairs(redis.call('ZRANGEBYSCORE', delayed, latest, '+inf', 'LIMIT', 0, ${MAX_PROMOTED})) do
  promoted[#promoted + 1] = id
end
for _, id in ipairs(promoted) do redis.call('ZADD', delayed, 0, id) end
-- Only the marker wakes waiting workers.
if #promoted + redis.call('LLEN', KEYS[1] .. 'wait') + redis.call('ZCARD', KEYS[1] .. 'prioritized') > 0 then
  redis.call('ZADD', KEYS[1] .. 'marker', 0, '0')
end
return removed`;

/**
 * Inspects jobs of each state. Returns two lists: the IDs and option JSON of the jobs that look valid, alternating, and
 * the IDs of jobs that BullMQ cannot process or would repeat, or that are too large. Removes locks of active jobs that no
 * worker created: such a job could neither be acknowledged nor delivered again. ARGV: max jobs per state, max bytes of a
 * job, and max lock duration in milliseconds.
 */
export const INSPECT_JOBS = `
local max_jobs = tonumber(ARGV[1])
local valid, broken = {}, {}
local function inspect(ids)
  for _, id in ipairs(ids) do
    local key = KEYS[1] .. id
    local kind = redis.call('TYPE', key).ok
    if kind == 'hash' then
      local is_valid = redis.call('HSTRLEN', key, 'data') <= tonumber(ARGV[2])
        and redis.call('HSTRLEN', key, 'opts') <= 1024 and redis.call('HLEN', key) <= 32
      for _, number in ipairs(is_valid and redis.call('HMGET', key, 'ats', 'atm', 'stc', 'priority') or {}) do
        if number and not number:match('^%d%d?%d?%d?%d?%d?%d?%d?%d?$') then is_valid = false end
      end
      for _, foreign in ipairs(is_valid and {'rjk', 'parent', 'parentKey', 'progress', 'defa', 'deid', 'id'} or {}) do
        if redis.call('HEXISTS', key, foreign) == 1 then is_valid = false end
      end
      if is_valid then
        valid[#valid + 1] = id
        valid[#valid + 1] = redis.call('HGET', key, 'opts') or '{}'
      else broken[#broken + 1] = id end
    elseif kind ~= 'none' then broken[#broken + 1] = id end
  end
end
inspect(redis.call('LRANGE', KEYS[1] .. 'wait', -max_jobs, -1))
local active = redis.call('LRANGE', KEYS[1] .. 'active', 0, max_jobs - 1)
inspect(active)
for _, id in ipairs(active) do
  local lock = KEYS[1] .. id .. ':lock'
  local kind, left = redis.call('TYPE', lock).ok, redis.call('PTTL', lock)
  if kind ~= 'none' and (kind ~= 'string' or left == -1 or left > tonumber(ARGV[3])) then redis.call('UNLINK', lock) end
end
inspect(redis.call('ZRANGE', KEYS[1] .. 'delayed', 0, max_jobs - 1))
inspect(redis.call('ZRANGE', KEYS[1] .. 'prioritized', 0, max_jobs - 1))
return {valid, broken}`;

/** Removes a job unless it is active. Ignores keys of the wrong type. */
export const DISCARD_JOB = `
local id = ARGV[1]
if type(redis.pcall('LPOS', KEYS[1] .. 'active', id)) == 'number' then return 0 end
redis.pcall('LREM', KEYS[1] .. 'wait', 0, id)
redis.pcall('ZREM', KEYS[1] .. 'delayed', id)
redis.pcall('ZREM', KEYS[1] .. 'prioritized', id)
return redis.call('UNLINK', KEYS[1] .. id, KEYS[1] .. id .. ':lock', KEYS[1] .. id .. ':logs')`;

/**
 * Puts back the active jobs that are locked with a token. BullMQ locks a job before the steps that may fail when it
 * delivers it; after a failure no worker would get it until the lock expires. ARGV: the token, max jobs to inspect.
 */
export const RELEASE_JOBS = `
for _, id in ipairs(redis.call('LRANGE', KEYS[1] .. 'active', 0, ARGV[2] - 1)) do
  local lock = KEYS[1] .. id .. ':lock'
  if redis.pcall('GET', lock) == ARGV[1] then
    redis.call('UNLINK', lock)
    redis.call('LREM', KEYS[1] .. 'active', 1, id)
    redis.call('RPUSH', KEYS[1] .. 'wait', id)
    redis.call('ZADD', KEYS[1] .. 'marker', 0, '0')
  end
end
return 0`;
