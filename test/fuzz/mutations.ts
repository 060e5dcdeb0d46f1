import pLimit from 'p-limit';
import { random } from '../helpers/corpus.ts';

/** Damaged files of each kind. */
export const FILES = Number(process.env.FUZZ_FILES ?? 200);
export const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);

/** A seeded source of integers below a bound: the same seed gives the same files on every machine. */
export function numbers(seed: number): Pick {
  const next = random(seed);
  return (below) => Math.floor(next() * below);
}

type Pick = (below: number) => number;

/** Sizes, counts and rates that a decoder must not believe. */
const LIES = [
  0, 1, 2, 0x7f, 0xff, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
] as const;
const HEADER_BYTES = 512;

const MUTATIONS: readonly ((file: Buffer, other: Buffer, pick: Pick) => Buffer)[] = [
  function flipBits(file, _other, pick) {
    const mutated = Buffer.from(file);
    for (let flips = 1 + pick(64); flips > 0; flips--) mutated[pick(mutated.length)]! ^= 1 << pick(8);
    return mutated;
  },
  function lieInTheHeader(file, _other, pick) {
    const mutated = Buffer.from(file);
    const lie = LIES[pick(LIES.length)]!;
    const at = pick(Math.min(HEADER_BYTES, mutated.length - 4));
    if (pick(2) === 0) mutated.writeUInt32LE(lie, at);
    else mutated.writeUInt32BE(lie, at);
    return mutated;
  },
  function cutShort(file, _other, pick) {
    return file.subarray(0, pick(file.length));
  },
  function takeOut(file, _other, pick) {
    const from = pick(file.length);
    return Buffer.concat([file.subarray(0, from), file.subarray(from + pick(file.length - from))]);
  },
  function splice(file, other, pick) {
    return Buffer.concat([file.subarray(0, pick(file.length)), other.subarray(pick(other.length))]);
  },
  function repeat(file, _other, pick) {
    const from = pick(file.length);
    const piece = file.subarray(from, from + 1 + pick(1024));
    const pieces = Array<Buffer>(1 + pick(16)).fill(piece);
    return Buffer.concat([file.subarray(0, from), ...pieces, file.subarray(from)]);
  },
  function blank(file, _other, pick) {
    const mutated = Buffer.from(file);
    const from = pick(file.length);
    return mutated.fill(pick(256), from, from + pick(file.length - from));
  },
];

/** What a damaged image may end as: never as a crash, a hang or a fault of ours. */
export const CODES = ['UNSUPPORTED_TYPE', 'CORRUPT_MEDIA', 'EMPTY_CONTENT', 'MEDIA_TOO_LARGE'];
/** What a damaged clip or video may end as. */
export const SOUND_CODES = [...CODES, 'UNSUPPORTED_AUDIO_TYPE'];

/** Has so many files damaged and finds out how each ends, some side by side; prints how many ended how. */
export async function damage(
  originals: readonly Buffer[],
  { files = FILES, sideBySide }: { readonly files?: number; readonly sideBySide: number },
  endOf: (index: number, damaged: Buffer) => Promise<string>,
): Promise<void> {
  const pick = numbers(SEED);
  const ends = new Map<string, number>();
  const limit = pLimit(sideBySide);
  const one = async (index: number, damaged: Buffer): Promise<void> => {
    const end = await endOf(index, damaged);
    ends.set(end, (ends.get(end) ?? 0) + 1);
  };
  const damaged = Array.from({ length: files }, () => mutatedFile(originals, pick));
  await Promise.all(damaged.map((file, index) => limit(() => one(index, file))));
  console.info(`seed ${SEED}:`, Object.fromEntries(ends));
}

/** One of the files, damaged once to three times. */
export function mutatedFile(files: readonly Buffer[], pick: Pick): Buffer {
  let mutated = files[pick(files.length)]!;
  for (let times = 1 + pick(3); times > 0 && mutated.length > 8; times--) {
    mutated = MUTATIONS[pick(MUTATIONS.length)]!(mutated, files[pick(files.length)]!, pick);
  }
  return mutated;
}
