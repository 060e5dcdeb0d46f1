import { onTestFinished } from 'vitest';
import type { Execution } from '../../../src/guard-server/contract/model.ts';
import { startGuardServer, type GuardServer } from '../../../src/guard-server/server.ts';

/** A synthetic guard, served until the test is over, that notes what it is asked to judge. */
export interface CountingGuard {
  readonly server: GuardServer;
  /** What was judged since this was last asked, sorted: texts, `conversation`, or the modality of a medium. */
  taken(): string[];
}

export async function countingGuard(): Promise<CountingGuard> {
  const judged: string[] = [];
  const observe = (execution: Execution): void => void judged.push(...contentsOf(execution));
  const synthetic = { serviceTime: 'zero', observe } as const;
  const server = await startGuardServer({ model: 'synthetic', grpcPort: 0, synthetic });
  onTestFinished(() => server.close());
  return { server, taken: () => judged.splice(0).sort() };
}

function contentsOf({ requests }: Execution): string[] {
  return requests.flatMap(({ strings, rows }) => {
    const of = (input: string): string[] => (strings.get(input) ?? []).map(String);
    const [requestType] = of('REQUEST_TYPE');
    const [modality] = of('MODALITY');
    if (requestType === 'version') return [];
    if (modality === 'text' && strings.has('TEXT')) return of('TEXT');
    return new Array<string>(rows).fill(requestType === 'multiturn' ? 'conversation' : modality!);
  });
}
