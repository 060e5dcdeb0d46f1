import { parseFolders } from '../../values/folders.ts';
import { anyText, duration, list, PORT, SWITCH, wholeNumber } from '../kinds.ts';
import { setting } from '../setting.ts';

const MAX_CONCURRENCY = 4096;

export const GATEWAY_PORT = setting({
  flag: '--port',
  help: 'port for HTTP, 0 to 65535; 0: a free one, which is printed',
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

export const MAX_CONCURRENT_REQUESTS = setting({
  flag: '--max-concurrency',
  help: `requests worked on at a time, 1 to ${MAX_CONCURRENCY}; as many again wait up to 5 s, others get status 429`,
  kind: wholeNumber('requests', 1, MAX_CONCURRENCY),
  default: '256',
  example: '64',
});

export const REQUEST_TIMEOUT = setting({
  flag: '--timeout',
  help: 'time from the headers of a request to its reply, 1s to 10m; then its status is 504',
  kind: duration({ min: '1s', max: '10m' }),
  default: '50s',
  example: '2m',
});

export const CONTENT_ROOT = setting({
  flag: '--root',
  help: 'folder that the dashboard may read content from; corpora elsewhere are neither shown nor judged for it',
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
