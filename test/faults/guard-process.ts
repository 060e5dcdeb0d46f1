import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ScriptedFault } from '../../src/guard-server/synthetic/faults.ts';
import { Cli } from '../helpers/cli.ts';
import { freePort } from '../helpers/free-port.ts';

const PRELOAD = fileURLToPath(new URL('preload/record-judged.mjs', import.meta.url));

/** That a guard judged a content, by its own record. */
export interface Judged {
  readonly fingerprint: string;
  /** By the clock, in milliseconds. */
  readonly at: number;
}

/** A synthetic guard in a process of its own, which comes back at the same port with the same version. */
export class GuardProcess {
  readonly port: number;
  readonly #record: string;
  readonly #script: string;
  #swaps = 0;
  #cli: Cli | null = null;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#record = join(folder, `judged-by-${port}`);
    this.#script = join(folder, `faults-of-${port}.json`);
  }

  static async at(folder: string): Promise<GuardProcess> {
    const guard = new GuardProcess(await freePort(), folder);
    await guard.#write([]);
    return guard;
  }

  get address(): string {
    return `grpc://127.0.0.1:${this.port}`;
  }

  /** Starts the process anew, without faults. */
  start(): Cli {
    const ports = ['--grpc-port', String(this.port), '--http-port', '0', '--metrics-port', '0'];
    this.#cli = new Cli(['guard', '--model', 'synthetic', ...ports, '--faults', this.#script], {
      env: { NODE_OPTIONS: `--import ${PRELOAD}`, FAULTS_RECORD: this.#record },
    });
    return this.#cli;
  }

  /** Replaces the faults in force. False when the process was not up, or died over it. */
  async setFaults(faults: readonly ScriptedFault[]): Promise<boolean> {
    const cli = this.#cli;
    // Before it listens, it would die of the signal.
    if (cli === null || !cli.stdout.includes('listening')) return false;
    const answers = (): number => cli.stdout.split('fault script').length;
    const before = answers();
    await this.#write(faults);
    cli.kill('SIGHUP');
    while (answers() === before && isAlive(cli)) await delay(10);
    if (isAlive(cli)) this.#swaps += faults.filter(({ kind }) => kind === 'swap-version').length;
    // Whoever starts it again finds as many versions loaded as before, and no faults.
    await this.#write(Array.from({ length: this.#swaps }, () => ({ kind: 'swap-version' })));
    return isAlive(cli);
  }

  /** What it judged, by `content_sha256`, over all its lives. */
  async judged(): Promise<Map<string, Judged[]>> {
    const judged = new Map<string, Judged[]>();
    if (!existsSync(this.#record)) return judged;
    for (const line of (await readFile(this.#record, 'utf8')).split('\n')) {
      const [content, fingerprint, at] = line.split(' ');
      // A life may have ended in the middle of a line.
      if (content === undefined || fingerprint === undefined || at === undefined) continue;
      const known = judged.get(content) ?? [];
      known.push({ fingerprint, at: Number(at) });
      judged.set(content, known);
    }
    return judged;
  }

  async #write(faults: readonly ScriptedFault[]): Promise<void> {
    await writeFile(`${this.#script}.new`, JSON.stringify({ faults }));
    await rename(`${this.#script}.new`, this.#script);
  }
}

function isAlive({ child }: Cli): boolean {
  return child.exitCode === null && child.signalCode === null;
}
