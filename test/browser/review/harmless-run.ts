import { hash } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll } from 'vitest';
import type { GuardRequest } from '../../../src/domain/request.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { CATEGORY_KEYS } from '../../../src/domain/taxonomy.ts';
import { ALLOWED, HATEFUL, judgedRun, RESTRICTED, wordsOf } from '../../helpers/judged-run.ts';
import type { JudgedRun, Verdict } from '../../helpers/judged-run.ts';
import { sharedFolder, writeFiles } from '../../helpers/cli.ts';
import { drawn } from '../../helpers/pictures.ts';
import { RATE, wavFile } from '../../helpers/wav.ts';

/** Whatever has such words gets such a verdict; all other verdicts follow from a hash, and mean nothing. */
export const WITHHELD = 'withheld sample';
export const LOUD = 'thunder';

/** Every foreign name and text of the corpus tries this. */
export const PROBE = '"><img src=x onerror="document.title=1"><script>document.title=2</script>';

const SHOPS = 'bakery,tram line,bicycle shop,library,market,swimming pool,choir,garden'.split(',');
const SAYINGS = [
  'opened an hour late again, and nobody said why',
  'should close on Mondays, as it used to',
  'was full of people singing yesterday evening',
];

const comments = (count: number): string =>
  Array.from({ length: count }, (_, row) => {
    const text = `The ${SHOPS[row % SHOPS.length]} ${SAYINGS[(row * 5) % SAYINGS.length]} (${row + 1}).`;
    return `c-${String(row + 1).padStart(4, '0')},"${text}"\n`;
  }).join('');

const LETTER = Array.from({ length: 90 }, (_, line) =>
  line === 60
    ? `Then came the ${LOUD}, and everybody ran under the roof of the market hall.`
    : `Line ${line + 1} of a long letter about a walk through the town, its shops and its trams.`,
).join('\n');

const CHAT = [
  ['system', 'You are the help desk of a bicycle shop.'],
  ['user', 'My chain keeps jumping off.'],
  ['assistant', 'Does it happen in every gear?'],
  ['user', `Only in the largest one, with a noise like ${LOUD}.`],
  ['assistant', 'Then the limit screw of the rear derailleur needs half a turn.'],
] as const;

const record = (value: unknown): string => `${JSON.stringify(value)}\n`;

const chats = [
  { id: 'chat-1', messages: CHAT.slice(0, 4).map(([role, content]) => ({ role, content })) },
  { id: `chat ${PROBE}`, messages: [{ role: 'user', content: `${LOUD} ${PROBE}` }] },
];

const strange = [
  { id: `${PROBE}\u202egnp.exe`, text: `${LOUD} ${PROBE} \u202eright to left` },
  { id: 'withheld-1', text: `A ${WITHHELD} that stands for what is never shown.` },
];

/** Three seconds of a tone that swells. */
function tone(): Buffer {
  const samples = 3 * RATE;
  return wavFile(samples, (at) => {
    const swell = Math.sin((Math.PI * at) / samples) * (0.6 + 0.4 * Math.sin(at / 900));
    return 12_000 * swell * Math.sin(at / 6);
  });
}

async function writeCorpus(path: string, rows: number): Promise<void> {
  await writeFiles(path, {
    'chats.jsonl': chats.map(record).join(''),
    'comments.csv': `id,comment\n${comments(rows)}c-broken,one field,too many\n`,
    'letter.txt': LETTER,
    'media/bells.txt': `Bells and ${LOUD}.`,
    'media/bells.wav': tone(),
    'media/market.png': await drawn(360, 240).png().toBuffer(),
    'media/market.txt': `The market hall before the ${LOUD}.`,
    'strange.jsonl': strange.map(record).join(''),
    '<img src=x onerror=alert(1)>.txt': `A file with a strange name, and ${LOUD}.`,
  });
}

/** Never `sexual_content`: what is flagged for it alone may be restricted. */
const HARMLESS_KEYS = CATEGORY_KEYS.filter(
  (key) => key !== 'sexual_content' && key !== 'child_sexual_exploitation',
);

function verdictOn(request: GuardRequest): Verdict {
  const words = wordsOf(request);
  if (words.includes(WITHHELD)) return RESTRICTED;
  if (words.includes(LOUD)) return HATEFUL;
  const digits = hash('sha256', words);
  const part = (at: number): number => Number.parseInt(digits.slice(at, at + 6), 16) / 0x1000000;
  const score = Math.round(part(0) ** 2 * 1e4) / 1e4;
  if (score < 0.5) return { ...ALLOWED, score };
  const keys = [6, 12, 18].map((at) => HARMLESS_KEYS[Math.floor(part(at) * HARMLESS_KEYS.length)]!);
  const subcategoryScores = Object.fromEntries(keys.map((key, index) => [key, score * (1 - index / 4)]));
  // Some are flagged without a category.
  return { score, flagged: true, subcategoryScores, subcategoryFlags: part(24) < 0.15 ? [] : [keys[0]!] };
}

export interface HarmlessRun extends JudgedRun {
  /** Folder of the corpus. */
  readonly corpus: string;
}

/** A finished run over made-up, harmless content of all kinds, for the tests of a file. */
export function useHarmlessRun(rows = 130): () => HarmlessRun {
  const folder = sharedFolder();
  let run: HarmlessRun;
  beforeAll(async () => {
    const corpus = join(folder, 'street');
    await writeCorpus(corpus, rows);
    const thresholds = { default: { review: 0.5, block: 0.8 }, hate: { review: 0.4, block: 0.8 } };
    const policy = { ...DEFAULT_POLICY, thresholds };
    const source = { audit: 'every-turn' } as const;
    const options = { verdictOn, maxBytes: 4096, policy, source, title: 'street' };
    run = { ...(await judgedRun(folder, corpus, options)), corpus };
  });
  return () => run;
}
