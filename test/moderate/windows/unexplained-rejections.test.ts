import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { TextRequest } from '../../../src/domain/request.ts';
import type { Judge } from '../../../src/moderate/parts/judge-parts.ts';
import { connect, connected, guard } from '../../helpers/guards/guard-pool.ts';
import { failure, verdict } from '../../helpers/guards/outcomes.ts';
import { prompt, prompts } from '../../helpers/guards/requests.ts';
import { judgedItem } from '../../helpers/items.ts';
import { moderateShard } from '../../helpers/moderation.ts';
import { scoreOf } from '../../helpers/guards/fake-contract.ts';
import type { Scripted, SeenRequest } from '../../helpers/guards/scripted-guard.ts';

const REJECTED = { code: status.INVALID_ARGUMENT, details: 'something else' };

/** What the guard is to judge: the text of a prompt, the response of a response. */
function texts({ inputs }: SeenRequest): readonly string[] {
  return inputs['RESPONSE_TEXT'] ?? inputs['TEXT'] ?? [];
}

function rejecting(rejects: (text: string) => boolean): (request: SeenRequest) => Scripted {
  return (request) => (texts(request).some(rejects) ? REJECTED : undefined);
}

async function moderate(
  judge: Judge,
  requests: readonly TextRequest[],
): Promise<readonly (Outcome | null)[]> {
  const items = requests.map((request, seq) => judgedItem(seq, request));
  return (await moderateShard({ items }, judge)).outcomes;
}

/** Words that each stand once in a text. */
function words(bytes: number): string {
  let text = '';
  for (let n = 0; text.length < bytes; n++) text += `wörd${n} `;
  return `${text.slice(0, bytes - 4)} end`;
}

describe('a long text that the guard rejects without a reason', () => {
  it('is judged in windows, the worst of which counts, all of it covered', async () => {
    const long = words(3000);
    const server = await guard({ script: rejecting((text) => text === long) });
    const outcomes = await moderate(await connect([server]), [...prompts(20), prompt(long)]);
    const windows = [...server.judged.keys()].filter((text) => text.length > 20 && long.includes(text));
    expect(windows).toHaveLength(2);
    const worst = windows.reduce((a, b) => (scoreOf(b) > scoreOf(a) ? b : a));
    expect(verdict(outcomes[20]!)).toMatchObject({
      score: expect.closeTo(scoreOf(worst), 6) as number,
      coverage: { unit: 'chars', judged: 3000, total: 3000, worst_at: long.indexOf(worst) },
      attempts: 1,
    });
    for (const outcome of outcomes.slice(0, 20)) expect(verdict(outcome!).attempts).toBe(1);
    for (const window of windows) expect(server.judged.get(window)).toHaveLength(1);
  });

  it('stays rejected when a short window is rejected, which is not cut further', async () => {
    const long = `${words(7000)} poison`;
    const { server, pool } = await connected(guard, { script: rejecting((text) => text.includes('poison')) });
    const [outcome] = await moderate(pool, [prompt(long), prompt('fine')]);
    expect(failure(outcome!)).toMatchObject({ error: { code: 'GUARD_REJECTED' }, attempts: 1 });
    const rejected = new Set(server.seen.flatMap(texts).filter((text) => text.includes('poison')));
    // The whole, then the last window of 4096 bytes, and of 2048.
    expect(rejected.size).toBe(3);
    expect(pool.status()[0]).toMatchObject({ inFlight: 0, queued: 0 });
  });
});
