import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { NotedHead } from '../../src/record/head-file.ts';
import { finishedSummary } from '../../src/record/summary/finished-summary.ts';
import { composeServices, projectFile, type Service } from '../compose/compose-file.ts';
import { Cli, guardsweep, printedRun, temporaryFolder } from '../helpers/cli.ts';
import { pageText } from '../helpers/documented.ts';
import { expectStatus } from '../helpers/fleet.ts';
import { freePort } from '../helpers/free-port.ts';
import { redisForTest } from '../helpers/redis/redis.ts';
import { jsonLines, until } from '../helpers/run-directory.ts';

/**
 * The services of docker-compose.yml as processes of this machine. A folder stands for the file systems of all containers,
 * and each port of a container is another one here. What only a container has is in test/compose.
 */
class ComposedProcesses {
  readonly services = composeServices({ REDIS_PASSWORD: 'a1b2c3', GUARDSWEEP_FLEET_KEY: 'c4'.repeat(32) });
  readonly root: string;
  /** The services that are healthy, in the order in which they became so. */
  readonly healthy: string[] = [];
  readonly #ports = new Map<string, number>();

  constructor(root: string) {
    this.root = root;
  }

  /** Starts a service once those that it depends on are healthy, and waits until it is. */
  async up(name: string): Promise<Cli | null> {
    const { depends_on: needed = {}, build, healthcheck } = this.services[name]!;
    for (const [other, { condition }] of Object.entries(needed)) {
      expect(condition).toBe('service_healthy');
      if (!this.healthy.includes(other)) await this.up(other);
    }
    const process = build === undefined ? await this.#startShell(name) : await this.run(name);
    await until(async () => this.#check(name, healthcheck!.test), `${name} to be healthy: ${process?.log}`);
    this.healthy.push(name);
    return process;
  }

  /** As `docker compose run --rm NAME ARGS`: without arguments, the command of the file. */
  async run(name: string, args = this.services[name]!.command): Promise<Cli> {
    for (const volume of this.services[name]!.volumes ?? []) await this.#mount(volume);
    return new Cli(await this.#here(name, args), { env: await this.environment(name) });
  }

  /** A volume of Compose is an empty folder at first; a folder of the project is copied. */
  async #mount(volume: string): Promise<void> {
    const [source, target] = volume.split(':');
    const folder = join(this.root, target!);
    await mkdir(dirname(folder), { recursive: true });
    if (source!.startsWith('./')) await cp(projectFile(source!), folder, { recursive: true });
    else await mkdir(folder, { recursive: true });
  }

  async #startShell(name: string): Promise<null> {
    const [shell, ...args] = await this.#here(name, this.services[name]!.command);
    await mkdir(join(this.root, 'data'), { recursive: true });
    const env = await this.environment(name);
    const child = spawn(shell!, args, { env, stdio: 'ignore' });
    const exited = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    return null;
  }

  async #check(name: string, [kind, ...args]: readonly string[]): Promise<boolean> {
    const [command, ...rest] = await this.#here(name, kind === 'CMD-SHELL' ? ['sh', '-c', ...args] : args);
    const env = await this.environment(name);
    return spawnSync(command!, rest, { env, timeout: 5000 }).status === 0;
  }

  /** The variables of a service, with the paths and ports of this machine. */
  async environment(name: string): Promise<NodeJS.ProcessEnv> {
    const { environment = {} } = this.services[name]!;
    const values = await this.#here(name, Object.values(environment));
    const set = Object.keys(environment).map((variable, index) => [variable, values[index]!] as const);
    return { PATH: process.env['PATH'], ...Object.fromEntries(set) };
  }

  /** Words of the file with the paths and ports of this machine. */
  async #here(name: string, words: readonly string[]): Promise<string[]> {
    const [redis, own] = [await this.#port('redis'), await this.#port(name)];
    return words.map((word) =>
      word
        .replaceAll(/(?<=^|[ =])\/(data|corpus)(?=$|[/\n])/g, `${this.root}/$1`)
        .replaceAll('redis:6379', `127.0.0.1:${redis}`)
        .replaceAll(/(^|:)9464(?=$|\/)/g, `$1${own}`)
        .replaceAll(/^redis-cli /g, `redis-cli -p ${redis} `)
        .replaceAll(/^appendonly /gm, `port ${redis}\nbind 127.0.0.1\nappendonly `),
    );
  }

  async #port(name: string): Promise<number> {
    if (!this.#ports.has(name)) this.#ports.set(name, await freePort());
    return this.#ports.get(name)!;
  }
}

it('docker-compose.yml comes up service by service, and a corpus is judged through it', async () => {
  // Finds redis-server, or installs it.
  await redisForTest();
  const compose = new ComposedProcesses(await temporaryFolder());
  const started: Cli[] = [];
  const isStarted = ([, { profiles }]: [string, Service]): boolean => profiles === undefined;
  // The last one first: what it needs is started for it.
  for (const [name] of Object.entries(compose.services).filter(isStarted).reverse()) {
    if (compose.healthy.includes(name)) continue;
    const process = await compose.up(name);
    if (process !== null) started.push(process);
  }
  expect(compose.healthy).toEqual(['redis', 'scheduler', 'sink', 'worker']);
  const env = await compose.environment('worker');
  const url = env['REDIS_URL']!.replace(':a1b2c3@', '');
  expect(
    (await guardsweep(['status', '--out', compose.root], { env: { ...env, REDIS_URL: url } })).stderr,
  ).toContain('wants a password');

  const feeder = await (await compose.run('feeder')).finished();
  expectStatus(feeder, 0);
  expect(feeder.stdout).toMatch(/Judged (\d+) of \1 items/);
  const run = printedRun(feeder);
  expect(await readdir(join(compose.root, 'data/runs'))).toContain(run.split('/').at(-1));
  const head = (await finishedSummary(run))!.chain_head;
  const noted = await jsonLines<NotedHead>(join(compose.root, 'data/heads/heads.jsonl'));
  expect(noted).toMatchObject([{ head }]);
  // As docs/fleet.md tells: `status`, `resume`, and another table. Nobody has to trust the run: its key is in the state folder.
  const typed = [...pageText('docs/fleet.md').matchAll(/^docker compose run --rm feeder (\w.*)$/gm)];
  expect(typed).toHaveLength(3);
  for (const [, line] of typed) {
    const words = line!.replace('/data/runs/<run>', run).replace('body', 'comment').split(' ');
    const done = await (await compose.run('feeder', words)).finished();
    expectStatus(done, 0);
    if (words[0] === 'status') expect(done.stdout).toContain(': finished');
  }
  const listed = await (await compose.run('scheduler', ['schedule', 'list', '/data/jobs'])).finished();
  expect(listed.stdout).toContain('nightly-rescan: 0 2 * * * (Europe/London), next ');

  for (const process of started) process.kill('SIGTERM');
  for (const process of started) expectStatus(await process.finished(), 0);
});
