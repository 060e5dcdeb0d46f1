import { join } from 'node:path';
import { expect } from 'vitest';
import type { ItemContent } from '../../../src/dashboard/api/items.ts';
import type { ApiFailure } from '../../../src/dashboard/api/runs.ts';
import { temporaryFolder, writeFiles } from '../../helpers/cli.ts';
import { serveDashboard, type ServedDashboard } from '../../helpers/dashboard.ts';
import { judgedRun, type JudgedRun } from '../../helpers/judged-run.ts';

/** Asks a dashboard for the items of a run. */
export class Asking {
  readonly served: ServedDashboard;
  readonly #run: JudgedRun;

  private constructor(served: ServedDashboard, run: JudgedRun) {
    this.served = served;
    this.#run = run;
  }

  /** A dashboard over the run, which may read below `root`. */
  static async of(run: JudgedRun, root: string, releaseToken: string | null = null): Promise<Asking> {
    return new Asking(await serveDashboard({ out: run.out, roots: [root], releaseToken }), run);
  }

  ask(seq: number, what: 'content' | 'media' | 'thumbnail', body: object = {}): Promise<Response> {
    return this.served.fetch(this.path(seq, what), { method: 'POST', body });
  }

  path(seq: number, what: 'content' | 'media' | 'thumbnail'): string {
    return `/api/runs/${this.#run.name}/items/${seq}/${what}`;
  }

  content(seq: number): Promise<ItemContent> {
    return this.served.json<ItemContent>(this.path(seq, 'content'), {});
  }

  /** The log of what was shown. */
  get log(): string {
    return join(this.#run.dir, 'review', 'reveals.jsonl');
  }

  /** The reason why there is nothing to show, of either route; else what is shown. A thumbnail is there only if the image is. */
  async reasons(seq: number): Promise<readonly string[]> {
    const content = await this.content(seq);
    const media = await this.ask(seq, 'media');
    const first = content.kind === 'unavailable' ? content.reason : content.kind;
    const thumbnail = await this.ask(seq, 'thumbnail');
    if (media.status === 200) {
      expect(thumbnail.status).toBe(first === 'image' ? 200 : 409);
      return [first, 'media'];
    }
    expect(thumbnail.status).toBe(409);
    const { error } = (await media.json()) as ApiFailure;
    return [first, error.code];
  }
}

/** A dashboard over a run over one file, or over these in the folder `corpus`. */
export async function askAbout(
  files: Readonly<Record<string, string | Buffer>>,
  options: Parameters<typeof judgedRun>[2] = {},
  releaseToken: string | null = null,
) {
  const [first, ...others] = Object.keys(files);
  const folder = await temporaryFolder();
  const corpus = others.length === 0 ? folder : join(folder, 'corpus');
  await writeFiles(corpus, files);
  const path = others.length === 0 ? join(folder, first!) : corpus;
  const run = await judgedRun(folder, path, options);
  return { folder, path, run, asking: await Asking.of(run, folder, releaseToken) };
}
