import { SWITCH } from '../kinds.ts';
import { setting } from '../setting.ts';

const json = (help: string) =>
  setting({ flag: '--json', help, kind: SWITCH, default: 'false', shown: 'text' });

export const JSON_SUMMARY = json('print the summary as JSON instead of text');
export const JSON_RESULT = json('print the result as JSON instead of text');
export const JSON_RUNS = json('print a JSON array with one object for each run, one line each time');
export const JSON_ENDPOINTS = json('print a JSON array with one object for each endpoint');
export const JSON_CHECKS = json('print a JSON array with one object for each check');

export const QUIET = setting({
  flag: '--quiet',
  help: 'show no progress and no notices on stderr',
  kind: SWITCH,
  default: 'false',
  shown: 'shown',
});

export const WATCH = setting({
  flag: '--watch',
  help: 'refresh every 2 s until the run is over',
  kind: SWITCH,
  default: 'false',
  shown: 'once',
});

export const TRUST_RUN = setting({
  flag: '--trust-run',
  help: 'work on a run directory that was not created here; check first what it reads and where it sends it',
  kind: SWITCH,
  default: 'false',
  shown: 'status 2',
});
