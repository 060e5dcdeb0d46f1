/** The processes of a fleet, each with a registry of its own. */
type Process = 'worker' | 'sink' | 'scheduler';

type Type = 'counter' | 'gauge' | 'histogram';

interface Metric<T extends Type> {
  readonly type: T;
  readonly of: readonly Process[];
  readonly help: string;
  readonly labels: readonly string[];
}

const metric =
  <T extends Type>(type: T) =>
  (of: Process | readonly Process[], help: string, ...labels: readonly string[]): Metric<T> => ({
    type,
    of: typeof of === 'string' ? [of] : of,
    help,
    labels,
  });

const counter = metric('counter');
const gauge = metric('gauge');
const histogram = metric('histogram');

const EVERY: readonly Process[] = ['worker', 'sink', 'scheduler'];

/**
 * Every metric of a fleet's own. docs/operations.md has this table. No label may have values without bound, or values that
 * come from content.
 */
export const METRICS = {
  guardsweep_build_info: gauge(EVERY, '1, with the version of guardsweep', 'version'),
  guardsweep_redis_up: gauge(EVERY, '1 while Redis can be reached'),

  guardsweep_items_total: counter(
    'worker',
    'Items judged, again after each redelivery, by outcome: ok, or the code of an error',
    'lane',
    'outcome',
  ),
  guardsweep_shard_items: histogram('worker', 'Items of the shards judged', 'lane'),
  guardsweep_shards_in_flight: gauge('worker', 'Shards being judged', 'lane'),
  guardsweep_jobs_dropped_total: counter('worker', 'Jobs that no feeder made', 'reason'),
  guardsweep_items_waiting: gauge('worker', 'Items that wait for any guard with room for them'),
  guardsweep_guard_ready: gauge(
    'worker',
    '1 while a guard is in use, 0 within 10 s after it went out, also when nothing is judged',
    'guard',
  ),
  guardsweep_guard_items_in_flight: gauge('worker', 'Items in requests in flight to a guard', 'guard'),
  guardsweep_guard_items_queued: gauge(
    'worker',
    'Items bound to one guard that wait to be sent to it, or for its version',
    'guard',
  ),
  guardsweep_guard_requests_total: counter('worker', 'Requests that a guard answered with verdicts', 'guard'),
  guardsweep_guard_latency_seconds: histogram(
    'worker',
    'Time from sending a request to its reply; once for every shard that has verdicts from it',
    'guard',
  ),
  guardsweep_guard_retries_total: counter('worker', 'Requests retried, by cause', 'guard', 'cause'),
  guardsweep_guard_rows_sent_total: counter('worker', 'Items sent to a guard, including retries', 'guard'),
  guardsweep_guard_room_sent_total: counter(
    'worker',
    'Item capacity of the requests sent to a guard: rows sent / room sent is the batch fill',
    'guard',
  ),
  guardsweep_guard_idle_seconds_total: counter(
    'worker',
    'Time in which a worker had no shard: there are more workers than work',
  ),
  guardsweep_guard_starved_seconds_total: counter(
    'worker',
    'Time in which a guard had room and no item was waiting: worker, Redis or feeder is the limit',
    'guard',
  ),

  guardsweep_queue_jobs: gauge(
    'sink',
    'Jobs of the fleet in Redis; every sink reports the same',
    'queue',
    'state',
  ),
  guardsweep_runs_held: gauge('sink', 'Runs that this sink commits'),
  guardsweep_runs_disk_full: gauge('sink', 'Runs that wait for room on their disk'),
  guardsweep_runs_finished_total: counter('sink', 'Runs finished'),
  guardsweep_shards_committed_total: counter('sink', 'Shards on disk'),
  guardsweep_items_committed_total: counter(
    'sink',
    'Items on disk, each counted once, by decision; `error` for those without a verdict',
    'lane',
    'decision',
  ),
  guardsweep_flags_committed_total: counter(
    'sink',
    'Verdicts on disk by flagged category; one verdict may have several',
    'lane',
    'decision',
    'category',
  ),
  guardsweep_errors_committed_total: counter('sink', 'Items with an error on disk', 'lane', 'code'),
  guardsweep_backlog_items: gauge(
    'sink',
    'Items of a run that are planned and not on disk; absent while it is paused, or its log checked',
    'run',
  ),
  guardsweep_oldest_shard_age_seconds: gauge(
    'sink',
    'Time since the oldest shard of the backlog was first seen in the plan, 0 without a backlog',
    'run',
  ),
  guardsweep_commit_age_seconds: gauge(
    'sink',
    'Time since the last commit of a run, or since this sink took it up',
    'run',
  ),
  guardsweep_results_dropped_total: counter(
    'sink',
    'Jobs that were not valid results of a run; their shards are judged again',
    'reason',
  ),

  guardsweep_schedule_last_success_timestamp_seconds: gauge(
    'scheduler',
    'When the last run of a schedule that ended with status 0 was finished',
    'schedule',
  ),
  guardsweep_schedule_last_status: gauge(
    'scheduler',
    'Exit status of the last run of a schedule; absent while it is not over',
    'schedule',
  ),
  guardsweep_schedule_next_timestamp_seconds: gauge('scheduler', 'When a schedule is due next', 'schedule'),
  guardsweep_schedule_skipped_total: counter(
    'scheduler',
    'Times of a schedule without a run, by reason: overlap, missed',
    'schedule',
    'reason',
  ),
  guardsweep_schedule_purge_failures_total: counter(
    'scheduler',
    'Times that an old run of a schedule could not be purged',
    'schedule',
  ),
} as const;

export type MetricName<T extends Type = Type> = {
  [Name in keyof typeof METRICS]: (typeof METRICS)[Name]['type'] extends T ? Name : never;
}[keyof typeof METRICS];
