import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkNode } from '../../src/cli/doctor-checks.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { syntheticGuard } from '../helpers/synthetic-guard.ts';
import { startKserveServer } from '../helpers/guards/kserve-server.ts';
import { type RestGuardOptions, startRestGuard } from '../helpers/guards/rest-guard.ts';
import { output, typed } from './terminal.ts';

async function restGuard(options?: RestGuardOptions): Promise<string> {
  const server = await startRestGuard(options);
  onTestFinished(() => server.kill());
  return server.address;
}

/** Nothing listens there: port 1 is reserved and needs privileges. */
const NOBODY = 'grpc://127.0.0.1:1';

describe('fingerprint', () => {
  it('prints the id and the artifacts', async () => {
    const { status, stdout } = await typed(['fingerprint', '--guard', (await syntheticGuard()).address]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^grpc:\/\/127\.0\.0\.1:\d+ {2}model guard version \d+\nsha256:[0-9a-f]{64}\n/);
    expect(stdout).toMatch(/\n {2}[0-9a-f]{64} {2}synthetic-/);
  });

  it('says that a guard over REST has none to tell', async () => {
    const url = await restGuard();
    const { status, stdout } = await typed(['fingerprint', '--guard', url]);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: `${url}  judges, and has no fingerprint: over REST a guard does not tell which model it runs\n`,
    });
    const json = await typed(['fingerprint', '--json', '--guard', url]);
    expect(JSON.parse(json.stdout)).toEqual([{ name: url, kind: 'rest', fingerprint: null }]);
  });

  it('ends with 4 and says what a server must declare', async () => {
    const server = await startKserveServer({ declared: 'nothing' });
    onTestFinished(() => server.kill());
    const { status, stderr } = await typed(['fingerprint', '--guard', server.address]);
    expect(status).toBe(4);
    expect(stderr).toContain('ModelMetadata declares no inputs: the server must declare the inputs');
  });
});

it('guard serves until interrupted, and says where', async () => {
  const interrupt = new AbortController();
  const stdout = output();
  const ended = typed(
    ['guard', '--model', 'synthetic', '--grpc-port', '0', '--http-port', '0', '--metrics-port', '0'],
    {
      context: { stdout, interrupts: { drain: interrupt.signal, stop: new AbortController().signal } },
    },
  );
  await stdout.begun;
  const address = /grpc:\/\/\S+/.exec(stdout.text())![0];
  expect((await typed(['fingerprint', '--guard', address])).status).toBe(0);
  interrupt.abort();
  expect((await ended).status).toBe(0);
});

describe('doctor', () => {
  it('says ok for everything that is there, and leaves nothing behind', async () => {
    const out = await temporaryFolder();
    const { address } = await syntheticGuard();
    const { status, stdout, stderr } = await typed(['doctor', '--guard', address, '--out', join(out, 'a/b')]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => line.slice(0, 12))).toEqual(
      ['nod', 'out', 'ffm', 'gpu', 'gua'].map((what) => `ok       ${what}`),
    );
    expect(await readdir(out)).toEqual([]);
  });

  it('tries a guard over REST by a harmless text, with its key', async () => {
    const keys: (string | undefined)[] = [];
    const url = await restGuard({
      script: ({ headers, harmless }) => {
        expect(harmless).toBe(true);
        keys.push(headers.authorization);
        return headers.authorization === 'Bearer own' ? undefined : { status: 401 };
      },
    });
    const doctor = ['doctor', '--json', '--guard', url, '--out', await temporaryFolder()];
    const env = { GUARD_API_KEY__127_0_0_1: 'own' };
    const found = async (context: { env?: NodeJS.ProcessEnv }): Promise<unknown> => {
      const checks = JSON.parse((await typed(doctor, { context })).stdout) as { what: string }[];
      return checks.find(({ what }) => what === `guard ${url}`);
    };
    expect(await found({ env })).toMatchObject({
      ok: true,
      found: 'ready, judges, without a fingerprint: REST does not name the model',
    });
    expect(await found({})).toMatchObject({ ok: false, found: 'not authorised' });
    expect(keys).toEqual(['Bearer own', undefined]);
  });

  it('says what is missing and what to do, and ends with 4', async () => {
    const out = await temporaryFolder();
    await writeFile(join(out, 'file'), '');
    const { status, stdout, stderr } = await typed(
      ['doctor', '--json', '--guard', NOBODY, '--out', join(out, 'file')],
      { context: { env: { PATH: out } } },
    );
    expect({ status, stderr }).toEqual({ status: 4, stderr: 'guardsweep: 3 of 5 checks failed\n' });
    expect(JSON.parse(stdout)).toMatchObject([
      { what: 'node', ok: true },
      { ok: false, found: 'not writable (ENOTDIR)', todo: 'name a folder you may write to with --out' },
      { what: 'ffmpeg', ok: false, found: 'ffmpeg does not run' },
      { what: 'gpu', ok: true },
      { what: `guard ${NOBODY}`, ok: false, todo: 'start it, or correct --guard or GUARD_URL' },
    ]);
  });

  it('knows which Node is too old', () => {
    expect(checkNode('20.18.3')).toMatchObject({ ok: false, todo: 'install Node 20.19 or newer' });
    expect(checkNode('20.19.0').ok).toBe(true);
    expect(checkNode('22.1.0').ok).toBe(true);
  });
});
