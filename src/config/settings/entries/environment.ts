import type { Variable } from '../setting.ts';

export const GUARD_URL: Variable = {
  name: 'GUARD_URL',
  help: 'guard endpoints, separated by commas or spaces, if neither a flag nor the job file names one',
};

export const GUARD_TOKEN: Variable = {
  name: 'GUARD_TOKEN',
  help: 'bearer token for guards over gRPC or KServe HTTP, on this machine or over TLS; needed to serve one beyond this machine',
  secret: true,
};

const GUARD_API_KEY: Variable = {
  name: 'GUARD_API_KEY',
  help: 'key for the one guard over https:// or openai+https://',
  secret: true,
};

export const OPENAI_API_KEY: Variable = {
  name: 'OPENAI_API_KEY',
  help: 'key for openai+https://api.openai.com, and for no other host',
  secret: true,
};

export const REDIS_URL: Variable = {
  name: 'REDIS_URL',
  help: 'Redis of the fleet, with its password, if --redis is not given',
  secret: true,
};

export const REDIS_PREFIX: Variable = {
  name: 'REDIS_PREFIX',
  help: 'prefix of every key in Redis; guardsweep when not set',
};

export const FLEET_KEY: Variable = {
  name: 'GUARDSWEEP_FLEET_KEY',
  help: 'secret of the fleet, at least 32 characters, the same for all its processes: seals jobs and results; needed unless Redis is on this machine',
  secret: true,
};

export const SIGNING_KEY: Variable = {
  name: 'GUARDSWEEP_SIGNING_KEY',
  help: 'Ed25519 private key in PEM; the process that finishes a run signs its manifest with it',
  secret: true,
};

export const METRICS_TOKEN: Variable = {
  name: 'GUARDSWEEP_METRICS_TOKEN',
  help: 'bearer token that requests for metrics must carry; needed to serve them beyond this machine',
  secret: true,
};

export const GATEWAY_TOKEN: Variable = {
  name: 'GUARDSWEEP_GATEWAY_TOKEN',
  help: 'bearer token that requests to the gateway must carry; needed to serve it beyond this machine',
  secret: true,
};

export const RELEASE_TOKEN: Variable = {
  name: 'GUARDSWEEP_RELEASE_TOKEN',
  help: 'another token for the dashboard; anyone who logs in with it may release items restricted for Sexual Content',
  secret: true,
};

export const WEBHOOK_SECRET: Variable = {
  name: 'GUARDSWEEP_WEBHOOK_SECRET',
  help: 'secret that notices to the webhook of `--on-finish` are signed with, at least 32 characters',
  secret: true,
};

export const DEBUG: Variable = {
  name: 'GUARDSWEEP_DEBUG',
  help: '1: show where an unexpected error happened',
};

const VARIABLES: readonly Variable[] = [
  GUARD_URL,
  GUARD_TOKEN,
  {
    name: 'GUARD_TOKEN__<HOST>',
    help: 'token for one host instead, such as GUARD_TOKEN__GPU_1 for grpcs://gpu-1:8001',
    secret: true,
  },
  GUARD_API_KEY,
  { name: 'GUARD_API_KEY__<HOST>', help: 'key for one host instead', secret: true },
  OPENAI_API_KEY,
  REDIS_URL,
  REDIS_PREFIX,
  FLEET_KEY,
  SIGNING_KEY,
  METRICS_TOKEN,
  GATEWAY_TOKEN,
  RELEASE_TOKEN,
  WEBHOOK_SECRET,
  {
    name: 'XDG_STATE_HOME',
    help: 'folder of the key that seals the runs created here; ~/.local/state when not set',
  },
  DEBUG,
];

/** The names of the variables that hold a secret. */
export const SECRETS: readonly string[] = VARIABLES.filter(({ secret }) => secret === true).map(
  ({ name }) => name,
);

/** All environment variables, in the order of the help. */
export const ENVIRONMENT: readonly Variable[] = [
  ...VARIABLES,
  {
    name: '<SECRET>_FILE',
    help: `file that holds a secret, such as GUARD_TOKEN_FILE, instead of one of ${SECRETS.join(', ')}`,
  },
];
