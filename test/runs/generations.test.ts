import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { generationVerdict } from '../../src/domain/generation/generation-verdict.ts';
import type { Outcome } from '../../src/domain/outcome.ts';
import type { GuardRequest } from '../../src/domain/request.ts';
import type { Judge } from '../../src/moderate/parts/judge-parts.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { outcomes } from '../helpers/run-directory.ts';
import { go, judge, runOver } from './small-run.ts';

const REPLAY = { chunkChars: 8, cadenceChunks: 1 };

/** A judge that flags from the first chunk with "bad" on, and asks for caution from the first with "odd" on. */
function streaming(options: Parameters<typeof judge>[0] = {}): Judge {
  const guard = judge(options);
  let lag = 0;
  return {
    ...guard,
    judge: async (requests, options) => {
      const answers = await guard.judge(requests, options);
      return answers.map((outcome, index) => withStream(requests[index]!, outcome, ++lag));
    },
  };
}

function withStream(request: GuardRequest, outcome: Outcome, lag: number): Outcome {
  if (request.requestType !== 'generation' || outcome.judgement === null) return outcome;
  const { chunks } = request;
  const seqOf = (word: string): number | null => {
    const seq = chunks.findIndex((_, index) =>
      chunks
        .slice(0, index + 1)
        .join('')
        .includes(word),
    );
    return seq === -1 ? null : seq;
  };
  const firstFlaggedSeq = seqOf('bad');
  const stream = generationVerdict(chunks, {
    judgedChunks: chunks.length,
    firstCautionSeq: seqOf('odd'),
    firstFlaggedSeq,
    lagChunks: lag,
    lagMs: lag,
  });
  return { judgement: { ...outcome.judgement, flagged: firstFlaggedSeq !== null, stream }, failure: null };
}

const RECORDS = Array.from({ length: 40 }, (_, index) => {
  if (index % 10 === 3)
    return { id: `r${index}`, prompt: 'How?', chunks: ['Well, ', 'this is bad', ' advice.'] };
  if (index % 10 === 5) return { id: `r${index}`, prompt: 'How?', response: 'That is rather odd, I think.' };
  if (index % 10 === 7) return { id: `r${index}`, text: 'A text on its own.' };
  return { id: `r${index}`, prompt: 'How?', response: `Stir it ${index} times, slowly.` };
});

it('replays generations, and records how early they were raised', async () => {
  const records = RECORDS.map((record) => `${JSON.stringify(record)}\n`).join('');
  const { run } = await runOver({ 'a.jsonl': records }, REPLAY);
  const { summary } = await go(run, streaming());
  const lines = await outcomes(run.dir);
  expect(lines[3]).toMatchObject({
    request_type: 'generation',
    decision: 'block',
    decided_by: 'flagged',
    coverage: { unit: 'chars', judged: 25, total: 25 },
    stream: { chunks: 3, first_caution_seq: null, first_flagged_seq: 1, shown_share_at_flag: 0.68 },
  });
  expect(lines[5]).toMatchObject({
    decision: 'review',
    decided_by: 'needs_caution',
    stream: { chunks: 4, first_caution_seq: 2, first_flagged_seq: null, shown_share_at_caution: 0.8571 },
  });
  expect(lines[7]).toMatchObject({
    request_type: 'prompt',
    stream: null,
    error: { code: 'UNSUPPORTED_TYPE', reason: 'no_generation' },
  });
  expect(summary).toMatchObject({
    without_generation: 4,
    streams: {
      generations: 36,
      caution: { generations: 4, median: 0.8571, p90: 0.8571 },
      flag: { generations: 4, median: 0.68, p90: 0.68 },
    },
  });
  const [head] = (await readFile(join(run.dir, 'flagged.csv'), 'utf8')).split('\r\n');
  expect(head).toMatch(/,moderated_at_utc,chunks,first_caution_seq,/);
  expect(await verifyRun(run.dir)).toMatchObject({ ok: true, items: 40 });
});
