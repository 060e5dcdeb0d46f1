import { describe, expect, test } from 'vitest';
import type { GuardFamily } from '../../../src/domain/guard/guard-family.ts';
import type { MultiturnRequest, UnaryRequest } from '../../../src/domain/request.ts';
import { type ChatFamily, FAMILIES } from '../../../src/guard/openai/chat-guard.ts';
import type { Question } from '../../../src/guard/openai/families/family.ts';
import { decide, DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { findRestriction } from '../../../src/domain/restriction/restriction.ts';
import { readCompletion } from '../../../src/guard/openai/completion.ts';
import { CANARY_PICTURE } from '../../../src/domain/canary/built-in.ts';
import { familyOfModel } from '../../../src/domain/guard/guard-family.ts';
import { image, prompt } from '../../helpers/guards/guard-pool.ts';

const POLICY = { sha256: 'a'.repeat(64), text: '# Forum rules\n- Hate: no attacks.\n- Off-topic ads\n' };

const MODELS: Readonly<Record<ChatFamily, string>> = {
  'llama-guard': 'meta-llama/Llama-Guard-3-8B',
  qwen3guard: 'Qwen/Qwen3Guard-Gen-8B',
  shieldgemma: 'google/shieldgemma-9b',
  'granite-guardian': 'ibm-granite/granite-guardian-3.3-8b',
  policy: 'openai/gpt-oss-safeguard-20b',
};

/** A token with its alternatives; one that is not given as [text, probability] pairs is sure. */
type Tokens = readonly (string | readonly (readonly [text: string, share: number])[])[];

function reply(
  content: string | null,
  { tokens, finish = 'stop' }: { tokens?: Tokens; finish?: string } = {},
) {
  const logprob = Math.log;
  return {
    model: 'm',
    choices: [
      {
        finish_reason: finish,
        message: { content },
        logprobs: tokens && {
          content: tokens.map((token) => {
            const odds = typeof token === 'string' ? [[token, 1] as const] : token;
            return {
              token: odds[0]![0],
              logprob: logprob(odds[0]![1]),
              top_logprobs: odds.map(([text, share]) => ({ token: text, logprob: logprob(share) })),
            };
          }),
        },
      },
    ],
  };
}

type Say = (question: Question) => unknown;

/** What a family makes of replies; with the questions that it asked. */
async function judged(
  name: ChatFamily,
  say: Say,
  request: UnaryRequest = prompt('hello'),
  model = MODELS[name],
) {
  const asked: Question[] = [];
  const answer = await FAMILIES[name]({ model, policy: POLICY }).judge(request, async (question) => {
    asked.push(question);
    return readCompletion(say(question));
  });
  return { answer, asked };
}

const CONVERSATION: MultiturnRequest = {
  requestType: 'multiturn',
  modality: 'text',
  messages: [
    ['assistant', 'welcome'],
    ['system', 'be kind'],
    ['user', 'one'],
    ['user', 'two'],
    ['assistant', 'three'],
    ['user', 'not yet'],
  ],
  turns: 5,
  conversation: null,
};
const RESPONSE = { requestType: 'response', modality: 'text', prompt: 'why', response: 'so' } as const;

describe('a family is told from the name of the served model', () => {
  test.each<[model: string, family: GuardFamily | null]>([
    ['meta-llama/Llama-Guard-3-8B', 'llama-guard'],
    ['llama-guard3:1b', 'llama-guard'],
    ['meta-llama/Llama-Guard-4-12B', 'llama-guard'],
    ['meta-llama/Meta-Llama-Guard-2-8B', null],
    ['meta-llama/LlamaGuard-7b', null],
    ['Qwen/Qwen3Guard-Gen-0.6B', 'qwen3guard'],
    ['Qwen/Qwen3Guard-Stream-8B', null],
    ['google/shieldgemma-2b', 'shieldgemma'],
    ['shieldgemma:27b', 'shieldgemma'],
    ['google/shieldgemma-2-4b-it', null],
    ['ibm-granite/granite-guardian-3.2-5b', 'granite-guardian'],
    ['granite3-guardian:8b', 'granite-guardian'],
    ['openai/gpt-oss-safeguard-120b', 'policy'],
    ['omni-moderation-latest', 'moderations'],
    ['Qwen/Qwen3-8B', null],
  ])('%s', (model, family) => {
    expect(familyOfModel(model)).toBe(family);
  });
});

describe('how an item is asked', () => {
  const safe: Say = () => reply('safe');

  test('a response follows its prompt; a conversation begins with the user, and the roles alternate', async () => {
    const { asked } = await judged('llama-guard', safe, RESPONSE);
    expect(asked[0]!.messages).toEqual([
      { role: 'user', content: 'why' },
      { role: 'assistant', content: 'so' },
    ]);
    const conversation = await judged('llama-guard', safe, CONVERSATION);
    expect(conversation.asked[0]!.messages).toEqual([
      { role: 'user', content: '' },
      { role: 'assistant', content: 'welcome' },
      { role: 'user', content: 'System:\nbe kind\n\none\n\ntwo' },
      { role: 'assistant', content: 'three' },
    ]);
  });

  test('an image goes as a data URL beside its caption, to a model that sees', async () => {
    const seeing = 'meta-llama/Llama-Guard-4-12B';
    const { asked } = await judged('llama-guard', safe, image(CANARY_PICTURE, 'a cat'), seeing);
    const url = `data:image/png;base64,${CANARY_PICTURE.toString('base64')}`;
    expect(asked[0]!.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a cat' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ]);
    const sees = (name: ChatFamily, model = MODELS[name]): boolean =>
      FAMILIES[name]({ model, policy: POLICY }).seesImages;
    expect(sees('llama-guard')).toBe(false);
    expect(sees('llama-guard', seeing)).toBe(true);
    expect(sees('qwen3guard')).toBe(false);
    expect(sees('policy', 'Qwen/Qwen2.5-VL-7B-Instruct')).toBe(true);
  });

  test('ShieldGemma judges the last exchange by four policies, the first of them alone', async () => {
    let waiting = 0;
    let most = 0;
    const { messages, answer } = await (async () => {
      const seen: Question[] = [];
      const answered = await FAMILIES.shieldgemma({ model: 'shieldgemma-2b', policy: null }).judge(
        CONVERSATION,
        async (question) => {
          seen.push(question);
          most = Math.max(most, ++waiting);
          if (seen.length === 1) expect(waiting).toBe(1);
          await Promise.resolve();
          if (seen.length === 1) expect(most).toBe(1);
          waiting--;
          return readCompletion(reply('No'));
        },
      );
      return { messages: seen, answer: answered };
    })();
    expect(most).toBe(3);
    expect(messages.map(({ messages: turns }) => turns.length)).toEqual([2, 2, 2, 2]);
    expect(new Set(messages.map(({ templateArguments }) => templateArguments!.guideline)).size).toBe(4);
    expect(answer).toMatchObject({ flagged: false, score: 0, subcategoryScores: null });
  });

  test.each([
    ['ibm-granite/granite-guardian-3.0-2b', 'risk_name'],
    ['granite3-guardian:8b', 'criteria_id'],
    ['ibm-granite/granite-guardian-3.2-5b', 'risk_name'],
    ['ibm-granite/granite-guardian-3.3-8b', 'criteria_id'],
    ['ibm-granite/granite-guardian-4.0-8b', 'criteria_id'],
  ])('%s gets its risk by %s', async (model, key) => {
    const { asked } = await judged('granite-guardian', () => reply('No'), prompt('a'), model);
    expect(asked.map(({ templateArguments }) => templateArguments)).toEqual([
      { guardian_config: { [key]: 'harm' } },
    ]);
  });

  test('a model that follows a policy gets it as the system message, and a transcript', async () => {
    const say: Say = () => reply('{"violation":false,"categories":[]}');
    const { asked } = await judged('policy', say, RESPONSE);
    const [system, user] = asked[0]!.messages;
    expect(system).toMatchObject({
      role: 'system',
      content: expect.stringContaining('Hate: no attacks') as string,
    });
    expect(user!.content).toContain('[user]\nwhy\n\n[assistant]\nso');
    const single = await judged('policy', say);
    expect(single.asked[0]!.messages[1]).toEqual({ role: 'user', content: 'hello' });
  });

  test('a model that follows a policy is not used without one', () => {
    expect(() => FAMILIES.policy({ model: 'm', policy: null })).toThrow('--guard-policy');
  });
});

type Found = readonly [score: number, flagged: boolean, flags: readonly string[] | null];

/** What replies mean; null: nothing. */
const REPLIES: Readonly<
  Record<ChatFamily, readonly (readonly [what: string, said: unknown, found: Found | null])[]>
> = {
  'llama-guard': [
    ['safe', reply('safe'), [0, false, null]],
    ['blank lines before it', reply('\n\nsafe'), [0, false, null]],
    ['codes', reply('unsafe\nS1,S10'), [1, true, ['violent_crimes', 'hate']]],
    [
      'codes with spaces, twice the same',
      reply('\n\nunsafe\n S9 , S9\n'),
      [1, true, ['indiscriminate_weapons']],
    ],
    ['children', reply('unsafe\nS4'), [1, true, ['child_sexual_exploitation']]],
    [
      'a code beyond the contract',
      reply('unsafe\nS13,S14'),
      [1, true, ['llama-guard/elections', 'llama-guard/code_interpreter_abuse']],
    ],
    ['no codes', reply('unsafe'), [1, true, []]],
    [
      'probabilities spread over spellings',
      reply('unsafe\nS1', {
        tokens: [
          '\n\n',
          [
            ['unsafe', 0.5],
            [' unsafe', 0.2],
            ['un', 0.1],
            ['safe', 0.15],
            ['\n', 0.05],
          ],
          '\n',
          'S',
          '1',
        ],
      }),
      [0.8421053, true, ['violent_crimes']],
    ],
    [
      'a probability of safe',
      reply('safe', {
        tokens: [
          [
            ['safe', 0.9],
            ['unsafe', 0.1],
          ],
        ],
      }),
      [0.1, false, null],
    ],
    ['cut before the codes', reply('unsafe', { finish: 'length' }), null],
    ['cut within the codes', reply('unsafe\nS1', { finish: 'length' }), null],
    ['an unknown code', reply('unsafe\nS1,S99'), null],
    ['the name of a property', reply('unsafe\nconstructor'), null],
    ['chatter', reply('I think this is safe.'), null],
    ['chatter behind it', reply('unsafe\nS1\nbecause'), null],
    ['both words', reply('safe\nunsafe\nS1'), null],
    ['thoughts that do not end', reply('<think>safe'), null],
    ['codes of what is safe', reply('safe\nS1'), null],
    ['tokens of another answer', reply('safe', { tokens: ['what'] }), null],
  ],
  qwen3guard: [
    ['safe', reply('Safety: Safe\nCategories: None'), [0, false, null]],
    [
      'unsafe',
      reply('Safety: Unsafe\nCategories: Violent, PII'),
      [1, true, ['qwen3guard/violent', 'qwen3guard/pii']],
    ],
    [
      'a response',
      reply('Safety: Unsafe\nCategories: Sexual Content or Sexual Acts\nRefusal: No'),
      [1, true, ['qwen3guard/sexual_content_or_sexual_acts']],
    ],
    [
      'controversial',
      reply('Safety: Controversial\nCategories: Politically Sensitive Topics'),
      [0, false, ['qwen3guard/controversial', 'qwen3guard/politically_sensitive_topics']],
    ],
    [
      'probabilities of the word behind the colon',
      reply('Safety: Unsafe\nCategories: Jailbreak', {
        tokens: [
          'Safety',
          ':',
          [
            [' Unsafe', 0.6],
            [' Controversial', 0.3],
            [' Safe', 0.1],
          ],
          '\nCategories:',
          ' Jailbreak',
        ],
      }),
      [0.6, true, ['qwen3guard/jailbreak']],
    ],
    [
      'thoughts before it',
      reply('<think>\nSafety: Unsafe\n</think>\n\nSafety: Safe\nCategories: None'),
      [0, false, null],
    ],
    ['no categories', reply('Safety: Unsafe'), null],
    ['an unknown category', reply('Safety: Unsafe\nCategories: Gossip'), null],
    ['an unknown level', reply('Safety: Maybe\nCategories: None'), null],
    ['cut', reply('Safety: Unsafe\nCategories: Viol', { finish: 'length' }), null],
    ['categories of what is safe', reply('Safety: Safe\nCategories: Violent'), null],
    ['two levels', reply('Safety: Safe\nCategories: None\nSafety: Unsafe\nCategories: Violent'), null],
    ['none and another category', reply('Safety: Unsafe\nCategories: None, Violent'), null],
    ['chatter behind it', reply('Safety: Safe\nCategories: None\nor is it?'), null],
    ['thoughts that do not end', reply('<think>\nSafety: Safe\nCategories: None'), null],
    ['chatter', reply('This text is safe.'), null],
  ],
  shieldgemma: [
    ['no to all', reply('No', { finish: 'length' }), [0, false, null]],
    [
      'yes to all',
      reply('Yes, because'),
      [
        1,
        true,
        [
          'shieldgemma/dangerous_content',
          'shieldgemma/harassment',
          'shieldgemma/hate',
          'shieldgemma/sexually_explicit',
        ],
      ],
    ],
    [
      'probabilities',
      reply('No', {
        tokens: [
          [
            ['No', 0.6],
            [' No', 0.1],
            ['Yes', 0.2],
            [' yes', 0.1],
          ],
        ],
      }),
      [0.3, false, []],
    ],
    ['another word', reply('Nothing'), null],
    ['both words', reply('No, yes'), null],
    ['a blank', reply(' \n'), null],
  ],
  'granite-guardian': [
    ['no', reply('No'), [0, false, null]],
    ['no, surely', reply('No\n<confidence> High </confidence>'), [0, false, null]],
    [
      'yes to all',
      reply('<think>\n</think>\n<score> yes </score>'),
      [
        1,
        true,
        [
          'harm',
          'social_bias',
          'violence',
          'profanity',
          'sexual_content',
          'unethical_behavior',
          'jailbreak',
        ].map((risk) => `granite-guardian/${risk}`),
      ],
    ],
    [
      'a probability within the tag',
      reply('<score>no</score>', {
        tokens: [
          '<',
          'score',
          '>',
          [
            ['no', 0.7],
            ['yes', 0.2],
            ['maybe', 0.1],
          ],
          '</score>',
        ],
      }),
      [0.2222222, false, null],
    ],
    ['another word', reply('Failed'), null],
    ['both words', reply('No, yes'), null],
    ['two scores', reply('<score>yes</score><score>no</score>'), null],
    ['a score in a sentence', reply('Not <score>no</score> at all'), null],
    ['thoughts that do not end', reply('<think>no</think><think>No'), null],
    ['an empty tag', reply('<score></score>'), null],
  ],
  policy: [
    ['no violation', reply('{"violation": false, "categories": []}'), [0, false, null]],
    [
      'categories of the policy',
      reply('{"violation": true, "categories": ["Hate", "off-topic ads"]}'),
      [1, true, ['policy/hate', 'policy/off_topic_ads']],
    ],
    [
      'in a fence',
      reply('```json\n{"violation": true, "categories": ["hate"]}\n```'),
      [1, true, ['policy/hate']],
    ],
    [
      'text that is not in the policy',
      reply('{"violation": true, "categories": ["my secret is 42", "__proto__"]}'),
      [1, true, ['policy/other']],
    ],
    [
      'thoughts before it',
      reply('<think>{"violation": true}</think>{"violation": false, "categories": []}'),
      [0, false, null],
    ],
    ['cut', reply('{"violation": true, "categories": []}', { finish: 'length' }), null],
    ['no JSON', reply('It is fine.'), null],
    ['another form', reply('{"violation": "yes", "categories": []}'), null],
    ['more than was asked for', reply('{"violation": true, "categories": [], "quote": "x"}'), null],
    ['braces the wrong way round', reply('}{'), null],
    [
      'child exploitation, whether the policy names it or not',
      reply('{"violation": true, "categories": ["Child Sexual Exploitation"]}'),
      [1, true, ['child_sexual_exploitation']],
    ],
    [
      'an answer in a sentence that denies it',
      reply('I think {"violation": false, "categories": []} is wrong; it violates'),
      null,
    ],
    [
      'two answers',
      reply('{"violation": false, "categories": []}\n{"violation": true, "categories": []}'),
      null,
    ],
    ['a key twice', reply('{"violation": true, "violation": false, "categories": []}'), null],
    ['categories without a violation', reply('{"violation": false, "categories": ["hate"]}'), null],
    ['thoughts that do not end', reply('<think>{"violation": false, "categories": []}'), null],
  ],
};

describe.each(Object.entries(REPLIES) as [ChatFamily, (typeof REPLIES)[ChatFamily]][])(
  '%s answers',
  (name, replies) => {
    test.each(replies)('%s', async (_, said, found) => {
      const { answer } = await judged(name, () => said);
      if (found === null) {
        expect(answer).toBeNull();
        return;
      }
      const [score, flagged, subcategoryFlags] = found;
      expect(answer).toMatchObject({ flagged, subcategoryFlags });
      expect(answer!.score).toBeCloseTo(score, 6);
    });

    test.each<[what: string, said: unknown]>([
      ['no choices', { model: 'm', choices: [] }],
      ['no content', reply(null)],
      ['another type', { choices: [{ message: { content: 7 } }] }],
      ['no object', 'safe'],
      ['nothing', null],
    ])('with nothing: %s', async (_, said) => {
      expect((await judged(name, () => said)).answer).toBeNull();
    });

    test.each<[what: string, said: unknown]>([
      ['in words', { choices: [{ message: { content: null, refusal: 'I cannot help.' } }] }],
      ['by a filter', reply('', { finish: 'content_filter' })],
    ])('with a refusal %s', async (_, said) => {
      const failed = judged(name, () => said);
      await expect(failed).rejects.toMatchObject({ fault: { kind: 'refused', code: 'GUARD_REJECTED' } });
      await expect(failed).rejects.not.toThrow(/help/);
    });
  },
);

test('the categories that Llama Guard names have the probability of its answer, the others 0', async () => {
  const said = reply('unsafe\nS10', {
    tokens: [
      [
        ['unsafe', 0.9],
        ['safe', 0.1],
      ],
      '\n',
      'S',
      '10',
    ],
  });
  const { answer } = await judged('llama-guard', () => said);
  expect(answer!.subcategoryScores).toMatchObject({ hate: 0.9, child_sexual_exploitation: 0 });
  expect(answer!.subcategoryScores).not.toHaveProperty('cybersecurity');
  // So an adult's content is not taken for that of a child.
  const sexual = (await judged('llama-guard', () => reply('unsafe\nS12'))).answer!;
  const line = { subcategory_flags: sexual.subcategoryFlags, subcategory_scores: sexual.subcategoryScores };
  expect(findRestriction(DEFAULT_POLICY, line)).toBeNull();
});

test.each<[name: ChatFamily, say: Say]>([
  ['llama-guard', () => reply('unsafe\nS4')],
  ['qwen3guard', () => reply('Safety: Unsafe\nCategories: Sexual Content or Sexual Acts')],
  ['shieldgemma', () => reply('Yes')],
  ['granite-guardian', () => reply('Yes')],
])(
  'what %s finds of children, or of sex without a word on children, restricts the item',
  async (name, say) => {
    const { subcategoryFlags, subcategoryScores } = (await judged(name, say)).answer!;
    const line = { subcategory_flags: subcategoryFlags, subcategory_scores: subcategoryScores };
    expect(findRestriction(DEFAULT_POLICY, line)).not.toBeNull();
  },
);

test('what Qwen3Guard finds controversial is reviewed, whatever its score', async () => {
  const said = reply('Safety: Controversial\nCategories: Unethical Acts');
  const { answer } = await judged('qwen3guard', () => said);
  expect(decide(DEFAULT_POLICY, { ...answer!, needsCaution: false, partial: false }).decision).toBe('review');
});

test('each risk of Granite Guardian has a probability of its own, and is asked for only where there is harm', async () => {
  const { answer, asked } = await judged(
    'granite-guardian',
    ({ templateArguments }) => {
      const { criteria_id: risk } = templateArguments!.guardian_config as { criteria_id: string };
      const share = risk === 'harm' ? 0.8 : risk === 'violence' ? 0.7 : 0.1;
      const isYes = share >= 0.5;
      const odds = [['yes', share] as const, ['no', 1 - share] as const].sort((a, b) => b[1] - a[1]);
      return reply(`<score>${isYes ? 'yes' : 'no'}</score>`, { tokens: ['<score>', odds, '</score>'] });
    },
    RESPONSE,
  );
  expect(answer).toMatchObject({
    score: 0.8,
    subcategoryFlags: ['granite-guardian/harm', 'granite-guardian/violence'],
    subcategoryScores: { 'granite-guardian/harm': 0.8, 'granite-guardian/profanity': 0.1 },
  });
  // A response cannot be a jailbreak.
  expect(asked).toHaveLength(6);
});
