import { LOG_FORMATS } from '../../../domain/say.ts';
import { parseFolders } from '../../values/paths.ts';
import { anyText, choice, list, path, PORT, SWITCH } from '../kinds.ts';
import { setting } from '../setting.ts';

export const METRICS_PORT = setting({
  flag: '--metrics-port',
  help: 'port for Prometheus metrics under /metrics and health under /healthz and /readyz, 0 to 65535; 0 takes a free one and prints it',
  kind: PORT,
  unset: 'none are served',
  example: '9464',
});

export const METRICS_HOST = setting({
  flag: '--metrics-host',
  help: 'address that metrics are served on; any but a loopback address needs GUARDSWEEP_METRICS_TOKEN or --metrics-open',
  kind: anyText('address'),
  default: '127.0.0.1',
  example: '0.0.0.0',
});

export const METRICS_OPEN = setting({
  flag: '--metrics-open',
  help: 'serve metrics without a token to any client that can reach the address',
  kind: SWITCH,
  default: 'false',
  shown: 'the token in GUARDSWEEP_METRICS_TOKEN, where it is set',
});

export const LOG_FORMAT = setting({
  flag: '--log-format',
  help: 'format of the log on stderr: `json`, or `text` with time and level in front of each message',
  kind: choice('format', LOG_FORMATS),
  unset: 'text on a terminal, else json',
  example: 'json',
});

export const MODEL = setting({
  flag: '--model',
  help: '`lite`: a small text classifier; `synthetic`: scores and delays made up for load and fault tests',
  kind: choice('model', ['lite', 'synthetic'] as const),
  default: 'lite',
  example: 'synthetic',
});

export const ALL_SCORES = setting({
  flag: '--all-scores',
  help: 'answer the scores of all categories for all content, not only for flagged content; this changes the fingerprint',
  kind: SWITCH,
  default: 'false',
});

export const HOST = setting({
  flag: '--host',
  help: 'address to listen on; any but a loopback address needs GUARD_TOKEN set, which callers must then send',
  kind: anyText('address'),
  default: '127.0.0.1',
  example: '0.0.0.0',
});

export const GRPC_PORT = setting({
  flag: '--grpc-port',
  help: 'port for gRPC, 0 to 65535; 0 takes a free one and prints it',
  kind: PORT,
  default: '8001',
  example: '9001',
});

export const GUARD_METRICS_PORT = setting({
  flag: '--metrics-port',
  help: 'port for Prometheus metrics of the guard under /metrics, 0 to 65535; 0 takes a free one and prints it',
  kind: PORT,
  default: '8002',
  example: '9002',
});

export const MODEL_CONTROL = setting({
  flag: '--model-control',
  help: '`explicit`: clients load and unload the model; `none`: it is loaded from start to end',
  kind: choice('mode', ['explicit', 'none'] as const),
  default: 'none',
  example: 'explicit',
});

export const LOAD_MODEL = setting({
  flag: '--load-model',
  help: 'model to load at the start, with --model-control explicit',
  kind: choice('name', ['guard'] as const),
  unset: 'none until a client loads it',
  example: 'guard',
});

export const HTTP_PORT = setting({
  flag: '--http-port',
  help: 'port for HTTP, 0 to 65535; 0 takes a free one and prints it',
  kind: PORT,
  default: '8000',
  example: '9000',
});

export const FAULTS = setting({
  flag: '--faults',
  help: 'fault script (JSON) for the synthetic model, reloaded on SIGHUP',
  kind: path('file'),
  unset: 'no faults',
  example: 'faults.json',
});

export const GATEWAY_PORT = setting({
  flag: '--port',
  help: 'port for HTTP, 0 to 65535; 0 takes a free one and prints it',
  kind: PORT,
  default: '9000',
  example: '9001',
});

export const GATEWAY_HOST = setting({
  flag: '--host',
  help: 'address to listen on; any but a loopback address needs GUARDSWEEP_GATEWAY_TOKEN set, which clients must then send',
  kind: anyText('address'),
  default: '127.0.0.1',
  example: '0.0.0.0',
});

export const CONTENT_ROOT = setting({
  flag: '--root',
  help: 'folder that the dashboard may read content from; content elsewhere is not shown',
  kind: list('dir', 'a folder', (texts, { folder }) => parseFolders(texts, folder)),
  default: '.',
  shown: 'the current folder',
  example: '/data/uploads',
});

export const DASHBOARD = setting({
  flag: '--no-dashboard',
  help: 'serve the API alone; a guard must then be named',
  kind: SWITCH,
  default: 'true',
  shown: 'the dashboard is served under /',
});
