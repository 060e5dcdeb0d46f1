import { writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { NORMAL_FORMS_FOLDER } from '../../config/settings/entries/output.ts';
import { type Flags, valueOf } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import { FILE_MODE } from '../../files/create-file.ts';
import { makeFolders } from '../../files/durable-write.ts';
import type { CommandContext } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';

const SETTINGS = { out: NORMAL_FORMS_FOLDER };

/** `normalize <file…>`: write media files in the form in which the guard receives them. */
export function normalizeCommand(context: CommandContext): Command {
  return newCommand('normalize', context, SETTINGS)
    .summary('write the normal form of images and audio')
    .description(
      'Write media in the form that the guard receives: PNG of the first frame of an image (RGB, longest\n' +
        'edge at most 512 pixels), WAV of the first 300 s of a clip (16 kHz, mono). photo.jpg becomes\n' +
        'photo.jpg.png. A file without a normal form is listed with its error code on stderr; the status is then 1.',
    )
    .argument('<file...>', 'images and audio files')
    .addHelpText('after', examples([['guardsweep normalize photo.jpg clip.mp3 --out normal', 'two files']]))
    .action(async (files: string[], flags: Flags) => {
      const { stdout, stderr, interrupts } = context;
      const out = await valueOf(SETTINGS.out, { flags, ...context });
      const names = new Set(files.map((file) => basename(file)));
      if (names.size < files.length) throw new Failure('usage', 'two files have the same name');
      await makeFolders(out).catch((cause: unknown) => {
        throw new Failure('usage', `--out: cannot create ${quoteName(out)} (${errorCode(cause)})`, { cause });
      });
      const [{ Normalizer }, { normalForm }] = await Promise.all([
        import('../../normalize/normalizer.ts'),
        import('../normal-form.ts'),
      ]);
      const normalizer = Normalizer.open();
      let failed = 0;
      try {
        for (const file of files) {
          try {
            const form = await normalForm(resolve(context.cwd, file), normalizer, interrupts.drain);
            if ('code' in form) throw new Failure('internal', `${form.code}, ${form.message}`);
            const path = join(out, `${basename(file)}.${form.extension}`);
            await writeFile(path, form.bytes, { flag: 'wx', mode: FILE_MODE });
            stdout.line(`${quoteName(file)} -> ${quoteName(path)}`);
          } catch (error) {
            interrupts.drain.throwIfAborted();
            stderr.line(`${quoteName(file)}: ${error instanceof Failure ? error.message : errorCode(error)}`);
            failed++;
          }
        }
      } finally {
        await normalizer.close();
      }
      if (failed > 0) throw new Failure('internal', `${failed} of ${files.length} files have no normal form`);
    });
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'error';
}
