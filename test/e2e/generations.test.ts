import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { onlyRun, outcomes } from '../helpers/run-directory.ts';

const SAMPLE = fileURLToPath(new URL('../../jobs/sample-streams/replies.jsonl', import.meta.url));

it('replays the sample with no settings, and says how early it would have been stopped', async () => {
  const out = join(await temporaryFolder(), 'runs');
  const { status, stdout } = await guardsweep(['enqueue', SAMPLE, '--as-stream', '--out', out]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^Judged 8 of 8 items; 0 not judged$/m);
  expect(stdout).toMatch(/^Flagged while streaming: 3 of 8 generations, half of them within the first /m);
  const run = await onlyRun(out);
  const lines = await outcomes(run);
  expect(lines[1]).toMatchObject({ id: 'g-02', request_type: 'generation', decision: 'block' });
  const { chunks, first_flagged_seq: seq, shown_share_at_flag: share } = lines[1]!.stream!;
  expect(chunks).toBe(15);
  expect(seq).toBeGreaterThan(0);
  expect(share).toBeGreaterThan(0);
  expect(share).toBeLessThan(1);
  expect(lines[3]).toMatchObject({ decision: 'allow', stream: { chunks: 2, first_flagged_seq: null } });
  expect(await readFile(join(run, 'verdicts.csv'), 'utf8')).toMatch(/,shown_share_at_flag\r\n/);
  expect((await guardsweep(['verify', run])).status).toBe(0);
});
