import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { random, sentence } from './corpus.ts';
import { drawn } from './pictures.ts';
import { RATE, wavFile } from './wav.ts';

/** A folder of what people upload. */
export interface MixedCorpus {
  /** The folder; its name is the corpus's. */
  readonly path: string;
  readonly files: number;
  /** The code of each item that cannot be judged, by its path below the folder (and `#row`). */
  readonly poisoned: ReadonlyMap<string, string>;
  /** How many items there are, those included. */
  readonly items: number;
  /** Ids that the manifest gives, by path. */
  readonly ids: ReadonlyMap<string, string>;
}

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url));

/** What the decoder for their names refuses, and a run judges as what they are. */
const OF_OTHER_KINDS: ReadonlySet<string> = new Set([
  ...['picture.mp3', 'film.m4a', 'film.mp4', 'film.webm', 'silent-film.mp4', 'document.jpg'],
]);

/** Writes `files` files of all kinds into `path`, some 50 of which cannot be judged; the same ones for the same seed. */
export async function writeMixedCorpus(path: string, files: number, seed: number): Promise<MixedCorpus> {
  const next = random(seed);
  const poisoned = new Map<string, string>();
  const ids = new Map<string, string>();
  let count = 0;
  let items = 0;
  const write = async (name: string, content: string | Buffer): Promise<void> => {
    count++;
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  };
  const poison = async (name: string, content: string | Buffer, code: string): Promise<void> => {
    await write(name, content);
    items++;
    poisoned.set(name, code);
  };

  for (const kind of ['images', 'audio']) {
    for (const name of await readdir(join(FIXTURES, kind))) {
      const file = name.slice(0, -'.error'.length);
      if (!name.endsWith('.error') || OF_OTHER_KINDS.has(file)) continue;
      const code = (await readFile(join(FIXTURES, kind, name), 'utf8')).trim();
      await poison(`odd/${file}`, await readFile(join(FIXTURES, kind, file)), code);
    }
  }
  await write('odd/paper.pdf', '%PDF-1.7\n');
  items++;
  poisoned.set('odd/paper.pdf#1', 'UNREADABLE_SOURCE');
  await poison('odd/letter.doc', Buffer.from('d0cf11e0a1b11ae10000', 'hex'), 'UNSUPPORTED_TYPE');
  await poison('odd/pack.7z', Buffer.from('377abcaf271c0004', 'hex'), 'UNSUPPORTED_TYPE');
  await poison('odd/latin.txt', Buffer.from([0x67, 0x72, 0xfc, 0xdf, 0x65]), 'INVALID_ENCODING');
  await poison('odd/blank.txt', ' \n', 'EMPTY_CONTENT');
  await poison('odd/described.png', await drawn(20, 20).png().toBuffer(), 'INVALID_ENCODING');
  await write('odd/described.txt', Buffer.from([0xff, 0xfb, 0x80]));

  await mkdir(join(path, 'pictures'), { recursive: true });
  const rows: string[] = [];
  for (let at = 0; count < files - 2; at++) {
    const number = String(at).padStart(3, '0');
    items++;
    if (at % 5 < 2) {
      const [width, height] = [20 + Math.floor(next() * 60), 20 + at];
      const format = (['png', 'jpeg', 'webp', 'gif', 'tiff'] as const)[at % 5 === 0 ? 0 : 1 + (at % 4)]!;
      const name = `pictures/${number}.${format}`;
      await write(name, await drawn(width, height).toFormat(format).toBuffer());
      if (at % 3 === 0) await write(`pictures/${number}.txt`, sentence(next));
      if (at % 4 === 0) {
        rows.push(`${name},picture-${at},"${sentence(next)}"`);
        ids.set(name, `picture-${at}`);
      }
    } else if (at % 5 === 2) {
      await write(`sounds/${number}.wav`, tone(0.05 + next() / 10, 200 + at));
      // A guard that hears by transcripts only has one for each.
      await write(`sounds/${number}.txt`, sentence(next));
    } else {
      await write(`texts/${number}.md`, sentence(next));
    }
  }
  await write('rows.csv', 'id,text\n1,one\n2,two\n3,"three\n');
  items += 3;
  poisoned.set('rows.csv#3', 'MALFORMED_ROW');
  rows.push('../outside.png,escape,', 'pictures/none.png,gone,');
  items += 2;
  for (const row of [rows.length - 1, rows.length]) poisoned.set(`manifest.csv#${row}`, 'UNREADABLE_SOURCE');
  await write('manifest.csv', `path,id,caption\n${rows.join('\n')}\n`);
  await copyFile(join(path, 'pictures', '000.png'), join(path, '..', 'outside.png'));
  return { path, files: count, poisoned, items, ids };
}

/** A clip of a sine. */
const tone = (seconds: number, hertz: number): Buffer =>
  wavFile(Math.round(seconds * RATE), (at) => 12_000 * Math.sin((2 * Math.PI * hertz * at) / RATE));
