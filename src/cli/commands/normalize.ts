import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { Failure } from '../../domain/failure.ts';
import { Normalizer } from '../../normalize/normalizer.ts';
import type { CommandContext } from '../context.ts';
import { flag } from '../flags.ts';
import { normalForm, openOrdinary } from '../normal-form.ts';
import { examples, newCommand } from '../new-command.ts';
import { OutputNames, writeInPlace } from '../output-names.ts';

/** `normalize <file…>`: write what the guard would get of media files. */
export function normalizeCommand(context: CommandContext): Command {
  return newCommand('normalize', context)
    .summary('write the normal form of images and audio')
    .description(
      'Write the form in which the guard gets media: PNG of the first frame of an image (RGB, longest\n' +
        'edge at most 512 pixels), WAV of the first 300 s of a clip (16 kHz, mono). Where a file has none,\n' +
        'NAME.error holds the code of why. photo.jpg becomes photo.png; of files with one name the later\n' +
        'ones are numbered.',
    )
    .argument('<file...>', 'images and audio files')
    .addOption(
      flag('--out <dir>', {
        what: 'folder to write in; made if it is not there',
        fallback: 'has to be given',
        example: 'normal',
      }),
    )
    .addHelpText('after', examples([['guardsweep normalize photo.jpg clip.mp3 --out normal', 'two files']]))
    .action(async (files: string[], options: { out?: string }) => {
      if (options.out === undefined) throw new Failure('usage', 'name a folder to write in with --out');
      const { cwd, interrupts, stdout } = context;
      const out = resolve(cwd, options.out);
      for (const file of files) await (await openOrdinary(resolve(cwd, file), file)).close();
      await makeFolder(out, options.out);
      const normalizer = Normalizer.open();
      const names = new OutputNames();
      try {
        const forms = inOrder(files, availableParallelism(), (file) =>
          normalForm(resolve(cwd, file), file, normalizer, interrupts.drain),
        );
        for await (const [file, { extension, bytes, code }] of forms) {
          const name = names.next(file, extension);
          await writeInPlace(join(out, name), bytes);
          stdout.write(`${file} -> ${join(options.out, name)}${code === null ? '' : ` (${code})`}\n`);
        }
      } finally {
        await normalizer.close();
      }
    });
}

async function makeFolder(folder: string, shown: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'error';
    throw new Failure('usage', `cannot write in ${shown} (${code})`, { cause });
  }
}

/** What `work` makes of each file, in the order of the files, some of them ahead of the one that is waited for. */
async function* inOrder<T>(
  files: readonly string[],
  ahead: number,
  work: (file: string) => Promise<T>,
): AsyncGenerator<readonly [file: string, result: T]> {
  const begun: Promise<T>[] = [];
  let next = 0;
  for (const file of files) {
    for (; next < files.length && begun.length < ahead; next++) {
      const result = work(files[next]!);
      // Whoever waits for it will hear of a failure; until then it is not unheard.
      result.catch(() => {});
      begun.push(result);
    }
    yield [file, await begun.shift()!];
  }
}
