import { describe, expect, test } from 'vitest';
import { CANARY_PICTURE } from '../../../src/domain/canary/built-in.ts';
import { familyOfModel, type GuardFamily } from '../../../src/domain/guard/guard-family.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import type { Turn, UnaryRequest } from '../../../src/domain/request.ts';
import { findRestriction } from '../../../src/domain/restriction/restriction.ts';
import { type ChatFamily, FAMILIES } from '../../../src/guard/openai/chat-guard.ts';
import { readCompletion } from '../../../src/guard/openai/completion.ts';
import type { Question } from '../../../src/guard/openai/families/family.ts';
import type { Answer } from '../../../src/guard/protocol/answer.ts';
import { conversation, image, prompt, response } from '../../helpers/guards/requests.ts';

const POLICY = { sha256: 'a'.repeat(64), text: '# Forum rules\n- Hate: no attacks.\n- Off-topic ads\n' };

const MODELS: Readonly<Record<ChatFamily, string>> = {
  'llama-guard': 'meta-llama/Llama-Guard-3-8B',
  qwen3guard: 'Qwen/Qwen3Guard-Gen-8B',
  shieldgemma: 'google/shieldgemma-9b',
  'granite-guardian': 'ibm-granite/granite-guardian-3.3-8b',
  policy: 'openai/gpt-oss-safeguard-20b',
};

/** A reply. A token with alternatives is written `yes=0.7|no=0.3`, any other as its text. */
function reply(content: string | null, tokens?: readonly string[], finish = 'stop') {
  const listed = tokens?.map((token) => {
    const odds = token.split('|').map((one) => one.split('='));
    const top = odds.map(([text, share = '1']) => ({ token: text!, logprob: Math.log(Number(share)) }));
    return { ...top[0], top_logprobs: top };
  });
  const logprobs = listed && { content: listed };
  return { model: 'm', choices: [{ finish_reason: finish, message: { content }, logprobs }] };
}

const cut = (content: string) => reply(content, undefined, 'length');

const HELLO = prompt('hello');

type Say = (question: Question) => unknown;

/** What a family makes of replies, and the questions that it asked. */
async function judged(name: ChatFamily, say: Say, request: UnaryRequest = HELLO, model = MODELS[name]) {
  const asked: Question[] = [];
  const answer = await FAMILIES[name]({ model, policy: POLICY }).judge(request, async (question) => {
    asked.push(question);
    return readCompletion(say(question));
  });
  return { answer, asked };
}

/** An answer in one line: score, decision and flags. */
function line(answer: Answer | null): string | null {
  if (answer === null) return null;
  const flags = answer.subcategoryFlags === null ? [] : [`[${answer.subcategoryFlags.join(' ')}]`];
  return [answer.score, answer.flagged ? 'flagged' : 'allowed', ...flags].join(' ');
}

const TURNS: Turn[] = [
  ['assistant', 'welcome'],
  ['system', 'be kind'],
  ['user', 'one'],
  ['user', 'two'],
  ['assistant', 'three'],
  ['user', 'not yet'],
];
const CONVERSATION = conversation(TURNS, { turns: 5 });
const RESPONSE = response('why', 'so');

test.each<[model: string, family: GuardFamily | null]>([
  ['meta-llama/Llama-Guard-3-8B', 'llama-guard'],
  ['meta-llama/Llama-Guard-4-12B', 'llama-guard'],
  ['meta-llama/Meta-Llama-Guard-2-8B', null],
  ['Qwen/Qwen3Guard-Gen-0.6B', 'qwen3guard'],
  ['Qwen/Qwen3Guard-Stream-8B', null],
  ['shieldgemma:27b', 'shieldgemma'],
  ['google/shieldgemma-2-4b-it', null],
  ['granite3-guardian:8b', 'granite-guardian'],
  ['omni-moderation-latest', 'moderations'],
  ['Qwen/Qwen3-8B', null],
])('the family of %s by its name', (model, family) => {
  expect(familyOfModel(model)).toBe(family);
});

describe('how an item is asked', () => {
  const safe: Say = () => reply('safe');

  test('a response follows its prompt; a conversation begins with the user, and the roles alternate', async () => {
    const { asked } = await judged('llama-guard', safe, RESPONSE);
    expect(asked[0]!.messages).toEqual([
      { role: 'user', content: 'why' },
      { role: 'assistant', content: 'so' },
    ]);
    const chat = await judged('llama-guard', safe, CONVERSATION);
    expect(chat.asked[0]!.messages).toEqual([
      { role: 'user', content: '' },
      { role: 'assistant', content: 'welcome' },
      { role: 'user', content: 'System:\nbe kind\n\none\n\ntwo' },
      { role: 'assistant', content: 'three' },
    ]);
  });

  test('an image goes as a data URL with its caption, to a model that sees', async () => {
    const seeing = 'meta-llama/Llama-Guard-4-12B';
    const { asked } = await judged('llama-guard', safe, image(CANARY_PICTURE, 'a cat'), seeing);
    const url = `data:image/png;base64,${CANARY_PICTURE.toString('base64')}`;
    const [text, picture] = [
      { type: 'text', text: 'a cat' },
      { type: 'image_url', image_url: { url } },
    ];
    expect(asked[0]!.messages).toEqual([{ role: 'user', content: [text, picture] }]);
    const sees = (name: ChatFamily, model = MODELS[name]) =>
      FAMILIES[name]({ model, policy: POLICY }).seesImages;
    expect([sees('llama-guard'), sees('llama-guard', seeing)]).toEqual([false, true]);
    expect([sees('qwen3guard'), sees('policy', 'Qwen/Qwen2.5-VL-7B-Instruct')]).toEqual([false, true]);
  });

  test('ShieldGemma judges the last exchange by four policies', async () => {
    const { asked } = await judged('shieldgemma', () => reply('No'), CONVERSATION, 'shieldgemma-2b');
    expect(asked.map(({ messages }) => messages.length)).toEqual([2, 2, 2, 2]);
    expect(new Set(asked.map(({ templateArguments }) => templateArguments!.guideline)).size).toBe(4);
  });

  test.each([
    ['ibm-granite/granite-guardian-3.2-5b', 'risk_name'],
    ['ibm-granite/granite-guardian-4.0-8b', 'criteria_id'],
  ])('%s gets its risk by %s', async (model, key) => {
    const { asked } = await judged('granite-guardian', () => reply('No'), prompt('a'), model);
    const risks = asked.map(({ templateArguments }) => templateArguments);
    expect(risks).toEqual([{ guardian_config: { [key]: 'harm' } }]);
  });

  test('a model that follows a policy gets it as the system message, and a transcript', async () => {
    const say: Say = () => reply('{"violation":false,"categories":[]}');
    const { asked } = await judged('policy', say, RESPONSE);
    const [system, user] = asked[0]!.messages;
    expect(system!.role).toBe('system');
    expect(system!.content).toContain('Hate: no attacks');
    expect(user!.content).toContain('[user]\nwhy\n\n[assistant]\nso');
    const single = await judged('policy', say);
    expect(single.asked[0]!.messages[1]).toEqual({ role: 'user', content: 'hello' });
    expect(() => FAMILIES.policy({ model: 'm', policy: null })).toThrow('--guard-policy');
  });
});

const GRANITE_RISKS = 'harm social_bias violence profanity sexual_content unethical_behavior jailbreak';
const SHIELD_RISKS = 'dangerous_content harassment hate sexually_explicit';
const violates = (categories: string) => `{"violation": true, "categories": [${categories}]}`;
const flaggedFor = (family: string, risks: string) => `1 flagged [${risks.replace(/\w+/g, `${family}/$&`)}]`;

/** What replies, or texts of replies, mean; null if they are not an answer. */
const REPLIES: Readonly<Record<ChatFamily, readonly [said: string | object, found: string | null][]>> = {
  'llama-guard': [
    ['safe', '0 allowed'],
    ['unsafe\nS1,S10', '1 flagged [violent_crimes hate]'],
    ['\n\nunsafe\n S9 , S9\n', '1 flagged [indiscriminate_weapons]'],
    ['unsafe\nS13,S14', '1 flagged [llama-guard/elections llama-guard/code_interpreter_abuse]'],
    ['unsafe', '1 flagged []'],
    [
      reply('unsafe\nS1', ['\n\n', 'unsafe=0.5| unsafe=0.2|un=0.1|safe=0.15|\n=0.05', '\n', 'S', '1']),
      '0.8421053 flagged [violent_crimes]',
    ],
    [reply('safe', ['safe=0.9|unsafe=0.1']), '0.1 allowed'],
    [cut('unsafe'), null],
    ['unsafe\nS1,S99', null],
    ['unsafe\nconstructor', null],
    ['I think this is safe.', null],
    ['<think>safe', null],
    [reply('safe', ['what']), null],
  ],
  qwen3guard: [
    ['Safety: Safe\nCategories: None', '0 allowed'],
    ['Safety: Unsafe\nCategories: Violent, PII', '1 flagged [qwen3guard/violent qwen3guard/pii]'],
    ['Safety: Controversial\nCategories: PII', '0 allowed [qwen3guard/controversial qwen3guard/pii]'],
    [
      reply('Safety: Unsafe\nCategories: Jailbreak', [
        ...['Safety', ':', ' Unsafe=0.6| Controversial=0.3| Safe=0.1', '\nCategories:', ' Jailbreak'],
      ]),
      '0.6 flagged [qwen3guard/jailbreak]',
    ],
    ['<think>\nSafety: Unsafe\n</think>\n\nSafety: Safe\nCategories: None', '0 allowed'],
    ['Safety: Unsafe', null],
    ['Safety: Unsafe\nCategories: Gossip', null],
    [cut('Safety: Unsafe\nCategories: Viol'), null],
    ['Safety: Safe\nCategories: Violent', null],
    ['Safety: Safe\nCategories: None\nSafety: Unsafe\nCategories: Violent', null],
    ['<think>\nSafety: Safe\nCategories: None', null],
  ],
  shieldgemma: [
    [cut('No'), '0 allowed'],
    ['Yes, because', flaggedFor('shieldgemma', SHIELD_RISKS)],
    [reply('No', ['No=0.6| No=0.1|Yes=0.2| yes=0.1']), '0.3 allowed []'],
    ['Nothing', null],
    ['No, yes', null],
  ],
  'granite-guardian': [
    ['No', '0 allowed'],
    ['<think>\n</think>\n<score> yes </score>', flaggedFor('granite-guardian', GRANITE_RISKS)],
    [
      reply('<score>no</score>', ['<', 'score', '>', 'no=0.7|yes=0.2|maybe=0.1', '</score>']),
      '0.2222222 allowed',
    ],
    ['No, yes', null],
    ['<score>yes</score><score>no</score>', null],
    ['<think>no</think><think>No', null],
  ],
  policy: [
    ['{"violation": false, "categories": []}', '0 allowed'],
    [violates('"Hate", "off-topic ads"'), '1 flagged [policy/hate policy/off_topic_ads]'],
    ['```json\n{"violation": true, "categories": ["hate"]}\n```', '1 flagged [policy/hate]'],
    // Names that are not in the policy could quote content.
    [violates('"my secret is 42", "__proto__"'), '1 flagged [policy/other]'],
    ['<think>{"violation": true}</think>{"violation": false, "categories": []}', '0 allowed'],
    [cut('{"violation": true, "categories": []}'), null],
    ['{"violation": true, "categories": [], "quote": "x"}', null],
    ['I think {"violation": false, "categories": []} is wrong; it violates', null],
    ['{"violation": true, "violation": false, "categories": []}', null],
    ['{"violation": false, "categories": ["hate"]}', null],
  ],
};

const NOTHING = [{ model: 'm', choices: [] }, reply(null), 'safe', null];

describe.each(Object.keys(REPLIES) as ChatFamily[])('%s', (name) => {
  test.each(REPLIES[name])('reads %j as %s', async (said, found) => {
    const { answer } = await judged(name, () => (typeof said === 'string' ? reply(said) : said));
    expect(line(answer)).toBe(found);
  });

  test.each(NOTHING)('reads no answer in %j', async (said) => {
    expect((await judged(name, () => said)).answer).toBeNull();
  });

  test.each([
    { choices: [{ message: { content: null, refusal: 'I cannot help.' } }] },
    reply('', undefined, 'content_filter'),
  ])('rejects an item that the model refuses: %j', async (said) => {
    const failed = judged(name, () => said);
    await expect(failed).rejects.toMatchObject({ fault: { kind: 'refused', code: 'GUARD_REJECTED' } });
    await expect(failed).rejects.not.toThrow(/help/);
  });
});

const restrictionOf = ({ subcategoryFlags: flags, subcategoryScores: scores }: Answer) =>
  findRestriction(DEFAULT_POLICY, { subcategory_flags: flags, subcategory_scores: scores });

test('the categories that Llama Guard names have the probability of its answer, the others 0', async () => {
  const said = reply('unsafe\nS10', ['unsafe=0.9|safe=0.1', '\n', 'S', '10']);
  const { answer } = await judged('llama-guard', () => said);
  expect(answer!.subcategoryScores).toMatchObject({ hate: 0.9, child_sexual_exploitation: 0 });
  expect(answer!.subcategoryScores).not.toHaveProperty('cybersecurity');
  // So an adult's content is not taken for that of a child.
  const sexual = await judged('llama-guard', () => reply('unsafe\nS12'));
  expect(restrictionOf(sexual.answer!)).toBeNull();
});

test.each<[name: ChatFamily, said: string]>([
  ['llama-guard', 'unsafe\nS4'],
  ['qwen3guard', 'Safety: Unsafe\nCategories: Sexual Content or Sexual Acts'],
  ['shieldgemma', 'Yes'],
  ['granite-guardian', 'Yes'],
])(
  'what %s finds of children, or of sex without a word on children, restricts the item',
  async (name, said) => {
    const { answer } = await judged(name, () => reply(said));
    expect(restrictionOf(answer!)).not.toBeNull();
  },
);

test('each risk of Granite Guardian has its own probability, and is asked for only if there is harm', async () => {
  const say: Say = ({ templateArguments }) => {
    const { criteria_id: risk } = templateArguments!.guardian_config as { criteria_id: string };
    const share = { harm: 0.8, violence: 0.7 }[risk] ?? 0.1;
    const [isYes, odds] = [share >= 0.5, [`yes=${share}`, `no=${1 - share}`]];
    const answer = (isYes ? odds : odds.reverse()).join('|');
    return reply(`<score>${isYes ? 'yes' : 'no'}</score>`, ['<score>', answer, '</score>']);
  };
  const { answer, asked } = await judged('granite-guardian', say, RESPONSE);
  expect(line(answer)).toBe('0.8 flagged [granite-guardian/harm granite-guardian/violence]');
  expect(answer!.subcategoryScores).toMatchObject({
    'granite-guardian/harm': 0.8,
    'granite-guardian/profanity': 0.1,
  });
  // A response cannot be a jailbreak.
  expect(asked).toHaveLength(6);
});
