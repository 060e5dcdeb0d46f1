import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startGuardServer } from '../../src/guard-server/server.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Cli, guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { random, seed, writeComments } from '../helpers/corpus.ts';
import { committedShards, comparable, outcomes, until } from '../helpers/run-directory.ts';

const ROWS = 6000;
/** Contents of the rows: they come up again and again. */
const DISTINCT = 2500;

it(
  'a rescan that is killed again and again ends as an undisturbed run, and judges no committed item again',
  { timeout: 120_000 },
  async () => {
    const next = random(seed());
    const calls = new Map<string, number>();
    const guard = await startGuardServer({
      model: 'synthetic',
      grpcPort: 0,
      synthetic: {
        serviceTime: 'zero',
        observe: ({ requests }) => {
          for (const { strings } of requests) {
            for (const bytes of strings.get('TEXT') ?? []) {
              const text = String(bytes);
              if (text.includes(', number ')) calls.set(text, (calls.get(text) ?? 0) + 1);
            }
          }
        },
      },
    });
    onTestFinished(() => guard.close());
    const folder = await temporaryFolder();
    const [path, out] = [join(folder, 'uploads'), join(folder, 'runs')];
    await mkdir(path);
    await writeComments(path, 'a.csv', 1000);
    const named = ['--guard', guard.address, '--quiet'];
    const night = async (): Promise<string> => {
      const done = await guardsweep(['enqueue', path, '--out', out, ...named]);
      expect(done).toMatchObject({ status: 0 });
      return done.stdout.trim().split('\n').at(-1)!;
    };
    const first = await night();
    const texts = Array.from({ length: ROWS }, () => `text, number ${Math.floor(next() * DISTINCT)}`);
    await writeFile(
      join(path, 'b.csv'),
      `id,text\n${texts.map((text, at) => `r${at},"${text}"\n`).join('')}`,
    );

    calls.clear();
    const deaths: { readonly at: string; readonly calls: ReadonlyMap<string, number> }[] = [];
    const killed = await runThatIsKilled(['enqueue', path, '--out', out, ...named], next, {
      find: async () => {
        const others = (await readdir(out)).filter((name) => !name.startsWith('.') && !first.endsWith(name));
        return others.map((name) => join(out, name))[0];
      },
      died: () => void deaths.push({ at: new Date().toISOString(), calls: new Map(calls) }),
    });
    const lines = await outcomes(killed);
    expect(await verifyRun(killed, {})).toMatchObject({ ok: true });
    expect(new Set(lines.slice(0, 1000).map((line) => line.reused_from))).toEqual(
      new Set([first.split('/').at(-1)]),
    );
    const distinct = new Set(lines.slice(1000).map((line) => line.content_sha256)).size;
    expect(calls.size).toBe(distinct);
    // Only what was in flight when the process was killed, and contents that come up again later, were judged a second time.
    let survived = 0;
    for (const { at, calls: before } of deaths) {
      const later = new Set(
        lines.filter((line) => line.moderated_at > at).map((line) => line.content_sha256),
      );
      for (const line of lines.slice(1000)) {
        if (later.has(line.content_sha256)) continue;
        const text = texts[line.source.row! - 1]!;
        expect([text, calls.get(text)]).toEqual([text, before.get(text)]);
        survived++;
      }
    }
    expect(survived).toBeGreaterThan(0);

    const undisturbed = await guardsweep(['enqueue', path, '--out', join(folder, 'undisturbed'), ...named]);
    expect(undisturbed).toMatchObject({ status: 0 });
    const other = undisturbed.stdout.trim().split('\n').at(-1)!;
    expect(comparable(lines)).toEqual(comparable(await outcomes(other)));
    // What was judged before the process was killed may not be in the store.
    await night();
    calls.clear();
    await night();
    expect(calls.size).toBe(0);
  },
);

/** Runs a command, kills it three times and resumes it each time; gives the run directory. */
async function runThatIsKilled(
  args: readonly string[],
  next: () => number,
  { find, died }: { readonly find: () => Promise<string | undefined>; readonly died: () => void },
): Promise<string> {
  let cli = new Cli(args);
  const run = await until(find, 'the run directory');
  for (let death = 0; death < 3; death++) {
    const already = await committedShards(run);
    await until(
      async () =>
        // The first four are of what was judged before.
        cli.child.exitCode !== null || (await committedShards(run)) > already + 4 + Math.floor(next() * 3),
      'progress',
    );
    cli.kill('SIGKILL');
    await cli.finished();
    died();
    cli = new Cli(['resume', run, '--quiet']);
  }
  expect(await cli.finished()).toMatchObject({ status: 0 });
  return run;
}
