import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentSha256 } from '../../../src/domain/content-hash.ts';
import { column, flags, messages, type TestTensor } from '../../helpers/guards/guard-client.ts';
import { type DoorReply, DOORS } from '../../helpers/guards/inference-doors.ts';
import { settled } from '../../helpers/settled.ts';
import { sharedGuard } from '../../helpers/guards/shared-guard.ts';

/** Planted in contents: no answer may repeat it. */
const MARKER = 'zebrafinch';

const { server } = await sharedGuard({ httpPort: 0, synthetic: { contextTokens: 50 } });

const base64 = (content: string): string => Buffer.from(content, 'latin1').toString('base64');
const type = (name: string): TestTensor => column('REQUEST_TYPE', [name]);
const modality = (name: string): TestTensor => column('MODALITY', [name]);
const text = (content: string): TestTensor => column('TEXT', [content]);
const session = (id: string): TestTensor => column('SESSION_ID', [id]);
const image = column('IMAGE', [base64('an image')]);
const clip = column('AUDIO', [base64('fLaC')]);
const response = column('RESPONSE_TEXT', ['sure']);
const conversation = messages(['user', 'four'], ['assistant', 'eight ch']);

/** Contents that their own request type would refuse. */
const REFUSED = {
  TEXT: text(' '),
  IMAGE: column('IMAGE', ['!']),
  AUDIO: column('AUDIO', ['!']),
  RESPONSE_TEXT: column('RESPONSE_TEXT', [' ']),
  MESSAGES: messages(['nobody', '']),
};

/** Foreign: inputs of other request types. The type is named where it is not the default. */
type Inputs = TestTensor[];
type Foreign = (keyof typeof REFUSED)[];
const FORMS: [what: string, type: Inputs, required: Inputs, optional: Inputs, foreign: Foreign][] = [
  ['text', [], [modality('text'), text('a')], [], ['IMAGE', 'AUDIO', 'RESPONSE_TEXT', 'MESSAGES']],
  ['image', [], [modality('image'), image], [text('a caption')], ['AUDIO', 'RESPONSE_TEXT', 'MESSAGES']],
  ['clip', [], [modality('audio'), clip], [text('a transcript')], ['IMAGE', 'RESPONSE_TEXT', 'MESSAGES']],
  ['response', [type('response')], [response], [text('the prompt')], ['IMAGE', 'AUDIO', 'MESSAGES']],
  [
    'multiturn',
    [type('multiturn')],
    [conversation],
    [session('form'), flags('CACHE_WRITE', [false])],
    ['TEXT', 'IMAGE', 'AUDIO', 'RESPONSE_TEXT'],
  ],
];

const FAILURES: [code: string, tensors: readonly TestTensor[]][] = [
  ['MISSING_PAYLOAD', [modality('image'), text(MARKER)]],
  ['INVALID_CONVERSATION', [type('multiturn'), messages(['system', MARKER])]],
  ['INVALID_ROLE', [type('multiturn'), messages([MARKER, MARKER])]],
  ['EMPTY_CONTENT', [type('multiturn'), messages(['user', ' \n'])]],
  ['UNSUPPORTED_AUDIO_TYPE', [modality('audio'), column('AUDIO', [base64(`<html>${MARKER}`)])]],
  ['SEQUENCE_OVERFLOW', [modality('text'), text(MARKER.repeat(21))]],
];

describe.each(DOORS)('requests over %s', (name, open) => {
  let infer: ReturnType<typeof open>;
  beforeEach(() => void (infer = open(server)));
  afterEach(() => server.synthetic!.resume());

  async function verdict(tensors: readonly TestTensor[]): Promise<DoorReply['outputs']> {
    const { outputs, error } = await infer(tensors);
    expect(error).toBeNull();
    return outputs;
  }

  it.each(FORMS)(
    '%s needs its own inputs and no others, and takes its optional ones (C-101, C-201, C-202, C-203, C-204, C-207, C-409, C-410, C-411, C-412, C-413)',
    async (_what, kind, required, optional, foreign) => {
      const { SCORE } = await verdict([...kind, ...required]);
      expect(SCORE).toHaveLength(1);
      for (const missing of required) {
        const { error } = await infer([...kind, ...required.filter((input) => input !== missing)]);
        if (kind.length > 0 || required.length > 1) expect(error).toContain('MISSING_PAYLOAD: ');
      }
      const others = foreign.map((input) => REFUSED[input]);
      expect((await verdict([...kind, ...required, ...others]))['SCORE']).toEqual(SCORE);
      for (const input of [...optional.map((one) => [one]), optional]) {
        expect((await verdict([...kind, ...required, ...input]))['FLAGGED']).toHaveLength(1);
      }
    },
  );

  it('version needs no other input, and judges none that is there (C-202, C-415)', async () => {
    const { VERSION, ...others } = await verdict([type('version')]);
    expect(JSON.parse(VERSION![0] as string)).toEqual(server.synthetic!.fingerprint.artifacts);
    expect(others).toEqual({});
    const unjudged = `not to be judged over ${name}`;
    expect(await verdict([type('version'), modality('text'), text(unjudged)])).toEqual({ VERSION });
    expect(await verdict([type('version'), ...Object.values(REFUSED)])).toEqual({ VERSION });
    const hash = contentSha256({ requestType: 'prompt', modality: 'text', text: unjudged });
    expect(server.synthetic!.fingerprintsOf(hash)).toEqual([]);
    await verdict([modality('text'), text(unjudged)]);
    expect(server.synthetic!.fingerprintsOf(hash)).toHaveLength(1);
  });

  it.each(FAILURES)(
    '%s is named, and quotes nothing (C-701, C-702, C-703, C-704, C-705, C-706, C-707)',
    async (code, tensors) => {
      const { error } = await infer(tensors);
      expect(error).toMatch(new RegExp(`^\\[request id: q7\\] ${code}: `));
      expect(error).not.toContain(MARKER);
    },
  );

  it('fails each on its own in one execution (C-419, C-707, C-809)', async () => {
    const control = server.synthetic!;
    const texts = ['good', ' ', 'fine', MARKER.repeat(21), 'well'];
    const alone = await Promise.all(texts.map((content) => infer([modality('text'), text(content)])));
    control.pause();
    const before = control.counts.executions;
    const first = infer([modality('text'), text('first')]);
    await settled(() => control.counts.executions === before + 1);
    const together = texts.map((content) => infer([modality('text'), text(content)]));
    await settled(() => control.waiting === texts.length);
    control.resume();
    await first;
    expect(await Promise.all(together)).toEqual(alone);
    expect(control.counts.executions).toBe(before + 2);
    const codes = alone.map(({ error }) => error?.split(' ')[3] ?? null);
    expect(codes).toEqual([null, 'EMPTY_CONTENT:', null, 'SEQUENCE_OVERFLOW:', null]);
  });

  describe('conversations of a session', () => {
    const turns = (...contents: string[]) => messages(...contents.map((one) => ['user', one] as const));
    const usage = async (id: string, history: TestTensor, write?: boolean): Promise<unknown> => {
      const writes = write === undefined ? [] : [flags('CACHE_WRITE', [write])];
      const given = [type('multiturn'), history, session(`${name} ${id}`), ...writes];
      return (await verdict(given))['CACHE_USAGE'];
    };

    it('count what was there before an edit, and what is new (C-209, C-216)', async () => {
      expect(await usage('edit', turns('a', 'b', 'c'))).toEqual([0, 3, 0, 3, 3, 0, 0, 0]);
      expect(await usage('edit', turns('a', 'B', 'c'))).toEqual([1, 2, 1, 2, 2, 0, 0, 0]);
      expect(await usage('edit', turns('a', 'B', 'c', 'd'))).toEqual([3, 1, 3, 1, 1, 0, 0, 0]);
    });

    it('are not kept with CACHE_WRITE off (C-210)', async () => {
      await usage('off', turns('a', 'b'));
      expect(await usage('off', turns('c'), false)).toEqual([0, 1, 0, 1, 0, 0, 0, 0]);
      expect(await usage('off', turns('a', 'b', 'c'), false)).toEqual([2, 1, 2, 1, 0, 0, 0, 0]);
      expect(await usage('off', turns('a', 'b', 'c'))).toEqual([2, 1, 2, 1, 1, 0, 0, 0]);
    });

    it('are not kept of a request that is refused (C-312)', async () => {
      const refused = await infer([type('multiturn'), turns('a', ' '), session(`${name} refused`)]);
      expect(refused.error).toContain('EMPTY_CONTENT');
      expect(await usage('refused', turns('a'))).toEqual([0, 1, 0, 1, 1, 0, 0, 0]);
    });

    it('are those of each row, in the order of the rows (C-417)', async () => {
      const two = turns('a', 'b');
      const { CACHE_USAGE } = await verdict([
        column('REQUEST_TYPE', ['multiturn', 'multiturn', 'multiturn', 'multiturn']),
        { ...two, shape: [4, 2, 2], raw: Buffer.concat([two.raw, two.raw, two.raw, two.raw]) },
        column('SESSION_ID', [`${name} row 1`, `${name} row 2`, `${name} row 1`, `${name} row 2`]),
        flags('CACHE_WRITE', [true, false, true, true]),
      ]);
      expect(CACHE_USAGE!.slice(0, 16)).toEqual([0, 2, 0, 2, 2, 0, 0, 0, 0, 2, 0, 2, 0, 0, 0, 0]);
      expect(CACHE_USAGE!.slice(16)).toEqual([2, 0, 2, 0, 0, 0, 0, 0, 0, 2, 0, 2, 2, 0, 0, 0]);
    });

    it('are none without a SESSION_ID, or in requests of other types (C-217)', async () => {
      const nothing = new Array<number>(8).fill(0);
      const prompt = [modality('text'), text('a'), session(`${name} other`)];
      expect((await verdict(prompt))['CACHE_USAGE']).toEqual(nothing);
      for (const id of [[], [session('')]]) {
        expect((await verdict([type('multiturn'), turns('a'), ...id]))['CACHE_USAGE']).toEqual(nothing);
      }
      const answered = [type('response'), response, session(`${name} other`)];
      expect((await verdict(answered))['CACHE_USAGE']).toEqual(nothing);
      expect(await usage('other', turns('a'))).toEqual([0, 1, 0, 1, 1, 0, 0, 0]);
    });
  });
});
