import { expect, it, onTestFinished } from 'vitest';
import { startGuardServer } from '../../src/guard-server/server.ts';
import type { ContractCode } from '../../src/guard-server/contract/request-error.ts';
import { closeAfterEach, connect } from '../helpers/guards/guard-pool.ts';
import { codeOf, sendText, serve } from './serve.ts';

closeAfterEach();

it('each failure of the contract keeps its name, has its status, and costs no other request (C-702, C-703, C-706, C-707)', async () => {
  const server = await startGuardServer({
    model: 'synthetic',
    grpcPort: 0,
    synthetic: { serviceTime: 'zero' },
  });
  onTestFinished(() => server.close());
  const { origin } = await serve(await connect([server]));
  const failures: readonly (readonly [code: ContractCode, status: number])[] = [
    ['MISSING_PAYLOAD', 422],
    ['INVALID_CONVERSATION', 422],
    ['INVALID_ROLE', 422],
    ['EMPTY_CONTENT', 422],
    ['UNSUPPORTED_AUDIO_TYPE', 415],
    ['SEQUENCE_OVERFLOW', 422],
  ];
  for (const [code, status] of failures) {
    server.synthetic!.setFaults([{ kind: 'refuse', containing: 'zebrafinch', code }]);
    const [good, bad, fine] = await Promise.all(
      ['good', 'zebrafinch', 'fine'].map((text) => sendText(origin, text)),
    );
    expect(codeOf(bad!)).toBe(`${status} ${code}`);
    expect(JSON.stringify(bad!.body)).not.toContain('zebrafinch');
    expect([good!.status, fine!.status]).toEqual([200, 200]);
  }
});
