import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { NORMAL_FORMS_FOLDER } from '../../config/settings/entries/output.ts';
import { type Flags, given, valueOf } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import { isDiskFull } from '../../files/disk-full.ts';
import { makeFolders } from '../../files/durable-write.ts';
import type { CommandContext } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';
import { OutputNames, pathOfNamed, writeInPlace } from '../normalize/named-files.ts';
import type { NormalForm } from '../normalize/normal-form.ts';

const SETTINGS = { out: NORMAL_FORMS_FOLDER };

/** `normalize <file…>`: write what the guard would get of media files. */
export function normalizeCommand(context: CommandContext): Command {
  return newCommand('normalize', context, SETTINGS)
    .summary('write the normal form of images and audio')
    .description(
      'Write media in the form that the guard receives: PNG of the first frame of an image (RGB, longest\n' +
        'edge at most 512 pixels), WAV of the first 300 s of a clip (16 kHz, mono). If a file has no such form,\n' +
        'NAME.error holds the error code. photo.jpg becomes photo.png; further files of the same name\n' +
        'are numbered, and names that would be too long are cut.',
    )
    .argument('<file...>', 'images and audio files')
    .addHelpText('after', examples([['guardsweep normalize photo.jpg clip.mp3 --out normal', 'two files']]))
    .action(async (files: string[], flags: Flags) => {
      const { cwd, interrupts, stdout, stderr } = context;
      const [{ Normalizer }, { normalForm, openOrdinary }] = await Promise.all([
        import('../../normalize/normalizer.ts'),
        import('../normalize/normal-form.ts'),
      ]);
      const out = await valueOf(SETTINGS.out, { flags, ...context });
      const outAsTyped = given(SETTINGS.out, { flags, ...context })!.texts[0].value;
      const paths: (readonly [file: string, path: string | Buffer])[] = [];
      for (const file of files) {
        const path = await pathOfNamed(resolve(cwd, file));
        await (await openOrdinary(path, file)).close();
        paths.push([file, path]);
      }
      await makeFolder(out, outAsTyped);
      const normalizer = Normalizer.open();
      const names = new OutputNames();
      let unwritten = 0;
      /** Returns what went wrong; null: nothing. */
      const write = async (file: string, { extension, bytes, code }: NormalForm): Promise<string | null> => {
        const name = names.next(file, extension);
        const written = await unlessBroken(interrupts.drain, () => writeInPlace(join(out, name), bytes));
        if (written !== undefined) return written.wrong;
        stdout.line(
          `${quoteName(file)} -> ${quoteName(join(outAsTyped, name))}${code === null ? '' : ` (${code})`}`,
        );
        return null;
      };
      try {
        const forms = inOrder(paths, availableParallelism(), ([file, path]) =>
          unlessBroken(interrupts.drain, () => normalForm(path, file, normalizer, interrupts.drain)),
        );
        for await (const [[file], form] of forms) {
          const wrong = 'wrong' in form ? form.wrong : await write(file, form);
          if (wrong === null) continue;
          unwritten++;
          stderr.line(`${quoteName(file)}: ${wrong}`);
        }
      } finally {
        await normalizer.close();
      }
      if (unwritten > 0) {
        throw new Failure('internal', `${unwritten} of ${files.length} normal forms could not be written`);
      }
    });
}

async function makeFolder(folder: string, shown: string): Promise<void> {
  try {
    await makeFolders(folder);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'error';
    throw new Failure('usage', `cannot write in ${shown} (${code})`, { cause });
  }
}

/** What went wrong with one file, which must not stop the others; an abort does. */
async function unlessBroken<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | { readonly wrong: string }> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (isDiskFull(error)) throw new Failure('service', 'no disk space is left', { cause: error });
    if (error instanceof Failure) return { wrong: error.message };
    if (error instanceof Error && 'code' in error)
      return { wrong: `no normal form could be written (${String(error.code)})` };
    throw error;
  }
}

/** What `work` makes of each file, in the order of the files, some of them ahead of the one that is waited for. */
async function* inOrder<F, T>(
  files: readonly F[],
  ahead: number,
  work: (file: F) => Promise<T>,
): AsyncGenerator<readonly [file: F, result: T]> {
  const begun: Promise<T>[] = [];
  let next = 0;
  for (const file of files) {
    for (; next < files.length && begun.length < ahead; next++) {
      const result = work(files[next]!);
      // Handled when it is awaited below; this only prevents an unhandled rejection until then.
      result.catch(() => {});
      begun.push(result);
    }
    yield [file, await begun.shift()!];
  }
}
