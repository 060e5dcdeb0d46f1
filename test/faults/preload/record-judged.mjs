/**
 * Preloaded into guards: what the synthetic model notes of each content it judges also goes to a file, with the time,
 * before the reply is sent. So it outlives the guard.
 */
import { openSync, writeSync } from 'node:fs';
import { VersionRecord } from '../../../dist/src/guard-server/synthetic/version-record.js';

const file = openSync(process.env.FAULTS_RECORD, 'a');
const add = VersionRecord.prototype.add;

VersionRecord.prototype.add = function (contentSha256, fingerprint) {
  writeSync(file, `${contentSha256} ${fingerprint} ${Date.now()}\n`);
  return add.call(this, contentSha256, fingerprint);
};
