/** Jobs whose rest is ended at a time, of those that would rest for too long. */
const MAX_WOKEN = 10_000;

/**
 * What BullMQ keeps of a queue (its source, src/commands/*.lua). The key that is given ends with a colon and begins those
 * of the queue. Our jobs are never kept after their end, have no children, and are in no list of a paused queue: who is
 * listed there would count as waiting for good. Gives the names of the keys that were removed. ARGV: for how long no
 * look for stalled jobs is put off, and no job rests, in milliseconds.
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
-- Nobody reads events, and after one with the highest number there could be no other.
redis.call('UNLINK', KEYS[1] .. 'events')
local meta = KEYS[1] .. 'meta'
if redis.call('HDEL', meta, 'paused', 'concurrency', 'max', 'duration') > 0 then removed[#removed + 1] = meta end
redis.call('HSET', meta, 'opts.maxLenEvents', 0)
-- BullMQ keeps the end of a rest as milliseconds times 4096, and takes none that is below zero.
local delayed = KEYS[1] .. 'delayed'
local now = redis.call('TIME')
local latest = string.format('(%.0f', (now[1] * 1000 + ARGV[2]) * 4096)
local woken = redis.call('ZRANGEBYSCORE', delayed, '-inf', '(0', 'LIMIT', 0, ${MAX_WOKEN})
for _, id in ipairs(redis.call('ZRANGEBYSCORE', delayed, latest, '+inf', 'LIMIT', 0, ${MAX_WOKEN})) do
  woken[#woken + 1] = id
end
for _, id in ipairs(woken) do redis.call('ZADD', delayed, 0, id) end
-- Workers that wait are woken by this alone.
if #woken + redis.call('LLEN', KEYS[1] .. 'wait') + redis.call('ZCARD', KEYS[1] .. 'prioritized') > 0 then
  redis.call('ZADD', KEYS[1] .. 'marker', 0, '0')
end
return removed`;

/**
 * Looks at jobs of each state. Gives the options of those that look sound, as id and JSON in turn, and the ids of those
 * that BullMQ cannot take, would repeat, or that are too large. Removes locks of active jobs that no worker made: whoever
 * had the job could not acknowledge it, and nobody else would get it. ARGV: jobs of a state, bytes of a job, and for how
 * long a lock lasts, in milliseconds.
 */
export const INSPECT_JOBS = `
local most = tonumber(ARGV[1])
local sound, broken = {}, {}
local function inspect(ids)
  for _, id in ipairs(ids) do
    local key = KEYS[1] .. id
    local kind = redis.call('TYPE', key).ok
    if kind == 'hash' then
      local is = redis.call('HSTRLEN', key, 'data') <= tonumber(ARGV[2])
        and redis.call('HSTRLEN', key, 'opts') <= 1024 and redis.call('HLEN', key) <= 32
      for _, number in ipairs(is and redis.call('HMGET', key, 'ats', 'atm', 'stc', 'priority') or {}) do
        if number and not number:match('^%d%d?%d?%d?%d?%d?%d?%d?%d?$') then is = false end
      end
      for _, foreign in ipairs(is and {'rjk', 'parent', 'parentKey', 'progress', 'defa', 'deid', 'id'} or {}) do
        if redis.call('HEXISTS', key, foreign) == 1 then is = false end
      end
      if is then
        sound[#sound + 1] = id
        sound[#sound + 1] = redis.call('HGET', key, 'opts') or '{}'
      else broken[#broken + 1] = id end
    elseif kind ~= 'none' then broken[#broken + 1] = id end
  end
end
inspect(redis.call('LRANGE', KEYS[1] .. 'wait', -most, -1))
local active = redis.call('LRANGE', KEYS[1] .. 'active', 0, most - 1)
inspect(active)
for _, id in ipairs(active) do
  local lock = KEYS[1] .. id .. ':lock'
  local kind, left = redis.call('TYPE', lock).ok, redis.call('PTTL', lock)
  if kind ~= 'none' and (kind ~= 'string' or left == -1 or left > tonumber(ARGV[3])) then redis.call('UNLINK', lock) end
end
inspect(redis.call('ZRANGE', KEYS[1] .. 'delayed', 0, most - 1))
inspect(redis.call('ZRANGE', KEYS[1] .. 'prioritized', 0, most - 1))
return {sound, broken}`;

/** Takes a job out of whatever state it is in, unless it is active; lists that are none hold it not. */
export const DISCARD_JOB = `
local id = ARGV[1]
if type(redis.pcall('LPOS', KEYS[1] .. 'active', id)) == 'number' then return 0 end
redis.pcall('LREM', KEYS[1] .. 'wait', 0, id)
redis.pcall('ZREM', KEYS[1] .. 'delayed', id)
redis.pcall('ZREM', KEYS[1] .. 'prioritized', id)
return redis.call('UNLINK', KEYS[1] .. id, KEYS[1] .. id .. ':lock', KEYS[1] .. id .. ':logs')`;

/**
 * Puts back the active jobs that are locked with a token: BullMQ locks a job before all that may fail when it hands it out,
 * and then nobody knows of it until the lock ends. ARGV: the token, jobs that are looked at.
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
