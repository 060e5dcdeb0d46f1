import { hash } from 'node:crypto';
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Judging } from '../../../src/config/run-config.ts';
import { itemError } from '../../../src/domain/item-error.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { EmbeddedMediaRequest, GuardRequest, MediaRequest } from '../../../src/domain/request.ts';
import type { Judge } from '../../../src/moderate/parts/judge-parts.ts';
import type { MediaNormalizer } from '../../../src/moderate/media/media-judge.ts';
import { temporaryFolder, writeFiles } from '../../helpers/cli.ts';
import { judgedItem } from '../../helpers/items.ts';
import { MODEL, judgement, moderateShard } from '../../helpers/moderation.ts';

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

/** Writes a file of the corpus "uploads" and returns the request for it. */
async function media(
  path: string,
  content: string,
  modality: MediaRequest['modality'] = 'image',
): Promise<MediaRequest> {
  await writeFiles(join(folder, 'uploads'), { [path]: content });
  const bytes = Buffer.byteLength(content);
  const file = { corpus: 'uploads', path, sha256: hash('sha256', content), bytes };
  return { requestType: 'prompt', modality, file, caption: 'a caption' };
}

/** A normal form in which every letter of a file is a frame, or a window of 300 s. */
const letters: MediaNormalizer = {
  image: async (bytes, { frames }) => {
    const sent = [...bytes.toString()].slice(0, frames);
    const frameOf = (letter: string, at: number) => ({ index: at * 2, bytes: Buffer.from(letter) });
    return { frames: sent.map(frameOf), total: bytes.length };
  },
  audio: async (file, { long, each }) => {
    const text = (await file.readFile()).toString();
    const given = long === 'truncate' ? text.slice(0, 1) : text;
    for (const [at, letter] of [...given].entries()) {
      await each({ startSeconds: at * 300, wav: Buffer.from(letter) });
    }
    return { windowSeconds: given.length * 300, totalSeconds: text.length * 300 - 0.0004 };
  },
  tracks: async () => ({ sounds: 1, pictures: [], startSeconds: 0 }),
  video: () => Promise.reject(new Error('there are no pictures')),
};

/** The letter that a request sends. */
function sentIn(request: GuardRequest): string {
  const bytes = 'image' in request ? request.image : 'audio' in request ? request.audio : Buffer.of();
  return bytes.toString();
}

/** A guard to which letters are scores: a is 0, z is 1. */
function guard(answer: (letter: string) => Outcome = scoreOf): Judge & { readonly asked: GuardRequest[] } {
  const asked: GuardRequest[] = [];
  const judge: Judge['judge'] = async (requests) => {
    asked.push(...requests);
    return requests.map((request) => answer(sentIn(request)));
  };
  return { asked, fingerprints: new Map([[MODEL.id, MODEL]]), judge };
}

function scoreOf(letter: string): Outcome {
  return judgement((letter.charCodeAt(0) - 97) / 25);
}

const rootsOf = (above: string) => new Map([['uploads', join(above, 'uploads')]]);

async function moderate(
  request: MediaRequest | EmbeddedMediaRequest,
  judge: Judge = guard(),
  judging: Partial<Judging> = {},
  normalizer: MediaNormalizer = letters,
): Promise<Outcome> {
  const options = { roots: rootsOf(folder), judging, normalizer };
  const { outcomes } = await moderateShard({ items: [judgedItem(0, request)] }, judge, options);
  return outcomes[0]!;
}

const failure = { error: itemError('TIMEOUT', 'too late'), attempts: 5, endpoint: 'x', moderatedAt: 'now' };

const code = (outcome: Outcome): string | undefined => outcome.failure?.error.code;

describe('an image', () => {
  it('is judged by its frames, with its caption, and the worst of them counts', async () => {
    const judge = guard();
    const { judgement: verdict } = await moderate(await media('a/b.gif', 'bzyc'), judge);
    expect(verdict).toMatchObject({ score: 1, flagged: true });
    expect(verdict!.coverage).toEqual({ unit: 'frames', judged: 4, total: 4, worst_at: 2 });
    expect(judge.asked).toHaveLength(4);
    for (const request of judge.asked)
      expect(request).toMatchObject({ modality: 'image', caption: 'a caption' });
  });

  it('of which one frame fails is that error', async () => {
    const judge = guard((letter) => (letter === 'b' ? { judgement: null, failure } : scoreOf(letter)));
    expect(await moderate(await media('a.gif', 'abc'), judge)).toEqual({ judgement: null, failure });
  });

  it('whose frames different models judged is judged again, all of it, but not forever', async () => {
    let asked = 0;
    const judge = guard((letter) => {
      asked++;
      return judgement(0.1, { fingerprint: asked === 1 ? null : MODEL.id, endpoint: letter });
    });
    expect((await moderate(await media('a.gif', 'abc'), judge)).judgement?.fingerprint).toBe(MODEL.id);
    expect(asked).toBe(6);
    const never = guard((letter) => judgement(0.1, { fingerprint: letter === 'b' ? null : MODEL.id }));
    expect(code(await moderate(await media('b.gif', 'abc'), never))).toBe('GUARD_INTERNAL');
    expect(never.asked).toHaveLength(15);
  });

  it('that came with its item needs no file', async () => {
    const embedded = Buffer.from('az');
    const request = { requestType: 'prompt', modality: 'image', embedded, caption: null } as const;
    const { judgement: verdict } = await moderate(request);
    expect(verdict!.coverage).toEqual({ unit: 'frames', judged: 2, total: 2, worst_at: 2 });
  });

  it('that has changed is not judged', async () => {
    const judge = guard();
    const same = await media('same.jpg', 'abc');
    await writeFile(join(folder, 'uploads/same.jpg'), 'abd');
    expect(code(await moderate(same, judge))).toBe('SOURCE_CHANGED');
    const gone = await media('gone.jpg', 'abc');
    await rm(join(folder, 'uploads/gone.jpg'));
    expect(code(await moderate(gone, judge))).toBe('UNREADABLE_SOURCE');
    expect(judge.asked).toEqual([]);
  });

  it('that has no normal form, or whose decoder fails, costs itself only', async () => {
    const refusing = { ...letters, image: async () => itemError('CORRUPT_MEDIA', 'broken') };
    const failing = { ...letters, image: () => Promise.reject(new Error('a word of content')) };
    const request = await media('a.jpg', 'abc');
    expect(await moderate(request, guard(), {}, refusing)).toMatchObject({
      failure: { error: { code: 'CORRUPT_MEDIA' }, attempts: 0, endpoint: null },
    });
    const outcome = await moderate(request, guard(), {}, failing);
    expect(code(outcome)).toBe('INTERNAL');
    expect(JSON.stringify(outcome)).not.toContain('content');
  });
});

describe('a clip', () => {
  it('cut off by request is covered in part (C-806)', async () => {
    const judge = guard();
    const clip = await media('a.mp3', 'bz', 'audio');
    const { judgement: verdict } = await moderate(clip, judge, { longAudio: 'truncate' });
    expect(verdict).toMatchObject({ score: 0.04 });
    for (const request of judge.asked) expect(request).toMatchObject({ transcript: 'a caption' });
    expect(verdict!.coverage).toEqual({ unit: 'seconds', judged: 300, total: 600, worst_at: null });
  });

  it('that is written to while it is decoded is not judged', async () => {
    const request = await media('a.mp3', 'abc', 'audio');
    const audio: MediaNormalizer['audio'] = async (...given) => {
      await writeFile(join(folder, 'uploads/a.mp3'), 'abd');
      return letters.audio(...given);
    };
    expect(code(await moderate(request, guard(), {}, { ...letters, audio }))).toBe('SOURCE_CHANGED');
  });
});

it('a shard of media has a bounded number of files open', async () => {
  let open = 0;
  let most = 0;
  const counting: MediaNormalizer = {
    ...letters,
    image: async (bytes, options) => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open--;
      return letters.image(bytes, options);
    },
  };
  const request = await media('a.jpg', 'a');
  const items = Array.from({ length: 200 }, (_, seq) => judgedItem(seq, request));
  const options = { roots: rootsOf(folder), normalizer: counting };
  const { outcomes } = await moderateShard({ items }, guard(), options);
  expect(outcomes.every((outcome) => outcome?.judgement !== null)).toBe(true);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(32);
});

describe('media that no guard judges', () => {
  const lacks = itemError('PROBE_NOT_LOADED', 'no probe');
  /** Judges what has a caption, and is not to be asked about anything else. */
  const deaf = () => ({
    ...guard(),
    notJudged: async ({ described }: { described: boolean }) => (described ? null : lacks),
  });
  const noNormalForm = { ...letters, image: () => Promise.reject(new Error('it was decoded')) };

  it('end as what the guards say of them all, undecoded, if they are what was planned', async () => {
    const judge = deaf();
    const planned = { ...(await media('a', 'az')), caption: null };
    expect((await moderate(planned, judge, {}, noNormalForm)).failure?.error).toEqual(lacks);
    expect(judge.asked).toHaveLength(0);
    expect((await moderate(await media('b', 'az'), judge)).judgement?.score).toBe(1);
    await appendFile(join(folder, 'uploads/a'), 'more');
    expect(code(await moderate(planned, deaf(), {}, noNormalForm))).toBe('SOURCE_CHANGED');
  });
});

const content = fc.string({ unit: fc.constantFrom('a', 'm', 'z'), minLength: 1, maxLength: 12 });
const modality = fc.constantFrom<MediaRequest['modality']>('image', 'audio');
const judging = fc.record({
  frames: fc.integer({ min: 1, max: 12 }),
  longAudio: fc.constantFrom<Judging['longAudio']>('windows', 'truncate'),
});

it('what is sent of a file is every frame and every window that is counted as judged, in order', async () => {
  await fc.assert(
    fc.asyncProperty(content, modality, judging, async (letters, kind, how) => {
      const judge = guard();
      const { judgement: verdict } = await moderate(await media('file', letters, kind), judge, how);
      const sent = judge.asked.map(sentIn);
      expect(letters.startsWith(sent.join(''))).toBe(true);
      const { judged, total } = verdict!.coverage;
      const unit = kind === 'image' ? 1 : 300;
      expect(judged).toBe(sent.length * unit);
      expect(total).toBeCloseTo(letters.length * unit, 2);
      const whole = kind === 'image' ? how.frames >= letters.length : how.longAudio === 'windows';
      if (whole) expect(sent.join('')).toBe(letters);
    }),
    { seed: 20_261_121, numRuns: 50 },
  );
});
