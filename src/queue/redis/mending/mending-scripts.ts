/**
 * What BullMQ keeps of a queue (its source, src/commands/*.lua). The key that is given ends with a colon and begins those
 * of the queue. Gives the names of the keys that were removed.
 */
export const MEND_KEYS = `
local types = {wait = 'list', active = 'list', paused = 'list', delayed = 'zset', prioritized = 'zset',
  completed = 'zset', failed = 'zset', ['waiting-children'] = 'zset', marker = 'zset', meta = 'hash',
  events = 'stream', stalled = 'set', ['stalled-check'] = 'string', pc = 'string', id = 'string',
  limiter = 'never', ['repeat'] = 'never', de = 'never'}
local removed = {}
for name, expected in pairs(types) do
  local key = KEYS[1] .. name
  local kind = redis.call('TYPE', key).ok
  local fits = kind == expected
  if fits and (name == 'pc' or name == 'id') then fits = redis.call('GET', key):match('^%d+$') end
  if fits and name == 'stalled-check' then fits = redis.call('PTTL', key) >= 0 end
  if kind ~= 'none' and not fits then
    redis.call('UNLINK', key)
    removed[#removed + 1] = key
  end
end
local meta = KEYS[1] .. 'meta'
if redis.call('HDEL', meta, 'paused', 'concurrency', 'max', 'duration') > 0 then removed[#removed + 1] = meta end
redis.call('HSET', meta, 'opts.maxLenEvents', 0)
-- Workers that wait are woken by this alone.
if redis.call('LLEN', KEYS[1] .. 'wait') + redis.call('ZCARD', KEYS[1] .. 'prioritized') > 0 then
  redis.call('ZADD', KEYS[1] .. 'marker', 0, '0')
end
return removed`;

/**
 * Looks at jobs of each state. Gives the options of those that look sound, as id and JSON in turn, and the ids of those
 * that BullMQ cannot take, would repeat, or that are too large. ARGV: jobs of a state, bytes of a job.
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
inspect(redis.call('LRANGE', KEYS[1] .. 'active', 0, most - 1))
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
