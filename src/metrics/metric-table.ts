/** The processes with metrics, each with its own registry. */
type Process = 'worker' | 'sink' | 'scheduler' | 'serve';

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

const FLEET: readonly Process[] = ['worker', 'sink', 'scheduler'];
/** The processes that send requests to guards. */
const CALLERS: readonly Process[] = ['worker', 'serve'];

/**
 * All our own metrics. docs/operations.md has this table. No label may have unbounded values, or values from content.
 */
export const METRICS = {
  guardsweep_build_info: gauge([...FLEET, 'serve'], '1, with the version of guardsweep', 'version'),
  guardsweep_redis_up: gauge(FLEET, '1 while Redis can be reached'),

  guardsweep_items_total: counter(
    'worker',
    'Items judged, again after each redelivery, by outcome: ok, or the code of an error',
    'lane',
    'outcome',
  ),
  guardsweep_shard_items: histogram('worker', 'Items of the shards judged', 'lane'),
  guardsweep_shards_in_flight: gauge('worker', 'Shards being judged', 'lane'),
  guardsweep_jobs_dropped_total: counter('worker', 'Jobs that no feeder made', 'reason'),
  guardsweep_items_waiting: gauge(CALLERS, 'Items that wait for any guard with room for them'),
  guardsweep_guard_ready: gauge(
    CALLERS,
    '1 while a guard is in use, 0 within 10 s after it went out, also when nothing is judged',
    'guard',
  ),
  guardsweep_guard_items_in_flight: gauge(CALLERS, 'Items in requests in flight to a guard', 'guard'),
  guardsweep_guard_items_queued: gauge(
    CALLERS,
    'Items bound to one guard that wait to be sent to it, or for its version',
    'guard',
  ),
  guardsweep_guard_requests_total: counter(CALLERS, 'Requests that a guard answered with verdicts', 'guard'),
  guardsweep_guard_latency_seconds: histogram(
    'worker',
    'Time from sending a request to its reply; once for every shard that has verdicts from it',
    'guard',
  ),
  guardsweep_guard_retries_total: counter(CALLERS, 'Requests retried, by cause', 'guard', 'cause'),
  guardsweep_guard_rows_sent_total: counter(CALLERS, 'Items sent to a guard, including retries', 'guard'),
  guardsweep_guard_room_sent_total: counter(
    CALLERS,
    'Item capacity of the requests sent to a guard: rows sent / room sent is the batch fill',
    'guard',
  ),
  guardsweep_guard_idle_seconds_total: counter(
    'worker',
    'Time in which a worker had no shard: there are more workers than work',
  ),
  guardsweep_guard_starved_seconds_total: counter(
    CALLERS,
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

  guardsweep_gateway_requests_total: counter(
    'serve',
    'Requests answered, by route and status; `aborted` for a response that the client did not take',
    'route',
    'status',
  ),
  guardsweep_gateway_request_seconds: histogram(
    'serve',
    'Time from the headers of a request to the end of its response',
    'route',
  ),
  guardsweep_gateway_requests_open: gauge('serve', 'Requests for moderation without a reply'),
  guardsweep_gateway_requests_waiting: gauge('serve', 'Moderation requests waiting for a free slot'),
  guardsweep_moderation_streams_open: gauge('serve', 'Number of open moderation streams'),
  guardsweep_moderation_stream_verdicts_total: counter(
    'serve',
    'Number of verdicts given on moderation streams',
  ),
  guardsweep_moderation_streams_unjudged_code_units: gauge(
    'serve',
    'UTF-16 code units of text on moderation streams that wait for a verdict',
  ),
} as const;

export type MetricName<T extends Type = Type> = {
  [Name in keyof typeof METRICS]: (typeof METRICS)[Name]['type'] extends T ? Name : never;
}[keyof typeof METRICS];
