import { type FileHandle, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { DEFAULT_LIMITS } from '../../config/run-config.ts';
import { NORMAL_FORMS_FOLDER } from '../../config/settings/entries/output.ts';
import { type Flags, valueOf } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import { FILE_MODE } from '../../files/create-file.ts';
import { makeFolders } from '../../files/durable-write.ts';
import { openFile } from '../../files/open-file.ts';
import { readFully } from '../../files/read-fully.ts';
import { binaryKind } from '../../ingest/recognise/binary-kind.ts';
import { Normalizer } from '../../normalize/normalizer.ts';
import type { CommandContext } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';

const SETTINGS = { out: NORMAL_FORMS_FOLDER };
const HEAD_BYTES = 256 * 1024;

/** `normalize <file…>`: writes media files in the form that the guard receives. */
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

type NormalForm = { readonly extension: 'png' | 'wav'; readonly bytes: Buffer };

async function normalForm(
  path: string,
  normalizer: Normalizer,
  signal: AbortSignal,
): Promise<NormalForm | ItemError> {
  const file = await openFile(path, 'follow');
  try {
    const { size } = await file.stat();
    const { mediaBytes } = DEFAULT_LIMITS;
    if (size > mediaBytes) return itemError('ITEM_TOO_LARGE', `${size} bytes; the limit is ${mediaBytes}`);
    const head = await readFully(file, Buffer.alloc(Math.min(size, HEAD_BYTES)), 0);
    const kind = binaryKind(head, path, null);
    if (kind === null || !kind.isJudged) {
      return itemError('UNSUPPORTED_TYPE', `${kind?.name ?? 'text'}, expected an image or audio`);
    }
    return kind.modality === 'image'
      ? await firstFrame(await readFully(file, Buffer.alloc(size), 0), normalizer, signal)
      : await firstWindow(file, normalizer, signal);
  } finally {
    await file.close();
  }
}

async function firstFrame(
  bytes: Buffer,
  normalizer: Normalizer,
  signal: AbortSignal,
): Promise<NormalForm | ItemError> {
  const image = await normalizer.image(bytes, { frames: 1, onlyPng: true, signal });
  return 'code' in image ? image : { extension: 'png', bytes: image.frames[0]!.bytes };
}

async function firstWindow(
  file: FileHandle,
  normalizer: Normalizer,
  signal: AbortSignal,
): Promise<NormalForm | ItemError> {
  const windows: Buffer[] = [];
  const each = async ({ wav }: { readonly wav: Buffer }): Promise<void> => void windows.push(wav);
  const audio = await normalizer.audio(file, { long: 'truncate', signal, each });
  return 'code' in audio ? audio : { extension: 'wav', bytes: windows[0]! };
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'error';
}
