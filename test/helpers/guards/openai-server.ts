import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { GuardFamily } from '../../../src/domain/guard/guard-family.ts';
import { canaryScore } from './canary-answers.ts';
import { HARMLESS, scoreOf } from './fake-contract.ts';
import { type FakeHttp, send, serveHttp } from './fake-http.ts';

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: { readonly url: string };
}

export interface ChatMessage {
  readonly content: string | readonly Part[];
}

/** The body of a request, as far as the scripted server looks at it. */
export interface OpenAiBody {
  readonly model: string;
  readonly messages?: readonly ChatMessage[];
  readonly input?: readonly (string | Part)[];
  readonly logprobs?: boolean;
  readonly top_logprobs?: number;
  readonly chat_template_kwargs?: Readonly<Record<string, unknown>>;
  readonly response_format?: object;
}

/** A request to judge as the server sees it. */
export interface SeenOpenAi {
  readonly body: OpenAiBody;
  /** What is judged: the last message's text, an image in base64; of a list of texts the first. */
  readonly content: string;
  /** Of a list of texts all of them. */
  readonly contents: readonly string[];
  readonly headers: IncomingHttpHeaders;
  /** Counted from 0 over all requests that are neither canaries nor the harmless text. */
  readonly number: number;
  /** Whether it is the harmless text or a canary. */
  readonly isOwn: boolean;
}

/** A reply in place of the ordinary one, or a lost connection; `text`: what the model says in an ordinary completion. */
export type OpenAiScripted =
  | void
  | 'drop'
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** Sent as it is if it is a string. */
      readonly body?: unknown;
      readonly text?: string;
      readonly finish?: string;
    };

export interface OpenAiServerOptions {
  readonly family: GuardFamily;
  readonly model: string;
  readonly port?: number;
  readonly script?: (request: SeenOpenAi) => OpenAiScripted | Promise<OpenAiScripted>;
  /** Alternatives a token at most; 0: the server knows no probabilities, and answers without. Default 20. */
  readonly alternatives?: number;
  /** Whether it refuses what it does not know instead of leaving it out. */
  readonly isStrict?: boolean;
  /** What `/v1/models` lists. Default: the model. */
  readonly models?: readonly { readonly id: string; readonly root?: string }[];
  /** The dated model in replies; default: the model. May change. */
  readonly answeredBy?: () => string;
  readonly version?: () => string;
  /** Whether it leaves `chat_template_kwargs` out. */
  readonly ignoresArguments?: boolean;
  /** The score of a content, 0 … 1. Default: a hash of it. */
  readonly score?: (content: string) => number;
}

export interface OpenAiServer extends FakeHttp {
  /** As given with --guard. */
  readonly address: string;
  /** Requests to judge, without canaries and harmless texts. */
  readonly seen: SeenOpenAi[];
}

/** A real HTTP server that answers as an OpenAI-compatible one with a model of a family. */
export async function startOpenAiServer(options: OpenAiServerOptions): Promise<OpenAiServer> {
  const { family, model, alternatives = 20 } = options;
  const seen: SeenOpenAi[] = [];

  const judge = async (message: IncomingMessage, response: ServerResponse, body: OpenAiBody) => {
    const contents = contentsOf(body);
    const [content = ''] = contents;
    const isOwn = content === HARMLESS || canaryScore(asCanary(content, body), 'right') !== null;
    const { headers } = message;
    const request: SeenOpenAi = { body, content, contents, headers, number: seen.length, isOwn };
    if (!isOwn) seen.push(request);
    const scripted = await options.script?.(request);
    if (scripted === 'drop') return void response.destroy();
    const refused =
      options.isStrict === true &&
      (body.response_format !== undefined || (body.top_logprobs ?? 0) > alternatives);
    if (refused) return void send(response, 400, { error: { message: 'unknown parameter', code: null } });
    const scores = contents.map((one) => canaryScore(asCanary(one, body), 'right') ?? scored(one));
    const answeredBy = options.answeredBy?.() ?? body.model;
    const known = options.ignoresArguments ? { ...body, chat_template_kwargs: {} } : body;
    const completed = () =>
      completion(scripted?.text === undefined ? answerTokens(family, scores[0]!) : sure(scripted.text), {
        finish: scripted?.finish ?? 'stop',
        hasLogprobs: body.logprobs === true && alternatives > 0,
        promptTokens: promptTokensOf(known),
      });
    const judged = family === 'moderations' ? moderation(scores) : completed();
    const ordinary = { ...judged, model: answeredBy };
    send(response, scripted?.status ?? 200, scripted?.body ?? ordinary, scripted?.headers);
  };
  const scored = (content: string): number =>
    content === HARMLESS ? 0.01 : (options.score?.(content) ?? scoreOf(content));

  const server = await serveHttp(
    async (message, body, response) => {
      const path = message.url!;
      const asked = family === 'moderations' ? '/v1/moderations' : '/v1/chat/completions';
      if (message.method === 'GET' && path === '/v1/models') {
        send(response, 200, { object: 'list', data: options.models ?? [{ id: model }] });
      } else if (message.method === 'GET' && path === '/version' && options.version !== undefined) {
        send(response, 200, { version: options.version() });
      } else if (message.method === 'POST' && path === asked) {
        await judge(message, response, JSON.parse(body.toString()) as OpenAiBody);
      } else {
        send(response, 404, { detail: 'Not Found' });
      }
    },
    { port: options.port },
  );
  return { ...server, address: `openai+http://${server.host}?model=${model}&family=${family}`, seen };
}

function contentsOf({ messages, input }: OpenAiBody): string[] {
  if (messages !== undefined) return [textOf(messages.at(-1)!.content)];
  const isParts = input!.some((part) => typeof part !== 'string');
  return isParts ? [textOf(input as readonly Part[])] : (input as string[]);
}

function textOf(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content;
  const text = content.flatMap((part) => part.text ?? []).join(' ');
  return text || content.map((part) => part.image_url?.url.split(',')[1] ?? '').join('');
}

function asCanary(content: string, { messages, input }: OpenAiBody): { text?: string; image?: string } {
  const of = messages === undefined ? input! : messages.at(-1)!.content;
  const isImage = (part: string | Part): boolean => typeof part !== 'string' && part.type === 'image_url';
  return typeof of !== 'string' && of.every(isImage) ? { image: content } : { text: content };
}

type Odds = readonly (readonly [text: string, share: number])[];

interface ScriptedToken {
  readonly text: string;
  readonly odds: Odds;
}

/** Text that is sure. */
function sure(...texts: string[]): ScriptedToken[] {
  return texts.map((text) => ({ text, odds: [[text, 1]] }));
}

/** The likelier of two words, with the probability of each spread over two spellings. */
function word(yes: string, no: string, score: number): ScriptedToken {
  const odds: Odds = [
    [yes, score * 0.75],
    [` ${yes}`, score * 0.25],
    [no, (1 - score) * 0.75],
    [` ${no}`, (1 - score) * 0.25],
  ];
  return { text: score >= 0.5 ? yes : no, odds };
}

/** What a model of the family says of a content with this score: with `hate` and violence where it is flagged. */
function answerTokens(family: GuardFamily, score: number): ScriptedToken[] {
  const flagged = score >= 0.5;
  switch (family) {
    case 'llama-guard': {
      const hazards = flagged ? ['\n', 'S', '10', ',', 'S1'] : [];
      return [...sure('\n\n'), word('unsafe', 'safe', score), ...sure(...hazards)];
    }
    case 'shieldgemma':
      return [word('Yes', 'No', score)];
    case 'granite-guardian':
      return [...sure('<score>'), word(' yes', ' no', score), ...sure(' </score>')];
    case 'policy':
      return sure(JSON.stringify({ violation: flagged, categories: flagged ? ['Hate'] : [] }));
    default:
      throw new Error(`no test asks for ${family}`);
  }
}

/** About a token for four characters, of messages and template arguments. */
function promptTokensOf({ messages, chat_template_kwargs: kwargs }: OpenAiBody): number {
  return Math.ceil((JSON.stringify(messages).length + JSON.stringify(kwargs ?? {}).length) / 4);
}

function completion(
  tokens: readonly ScriptedToken[],
  of: { readonly finish: string; readonly hasLogprobs: boolean; readonly promptTokens: number },
): object {
  const logprob = (share: number): number => Math.log(Math.max(share, 1e-9));
  const content = tokens.map(({ text, odds }) => ({
    token: text,
    logprob: logprob(odds.find(([one]) => one === text)![1]),
    top_logprobs: odds.map(([one, share]) => ({ token: one, logprob: logprob(share) })),
  }));
  const message = { role: 'assistant', content: tokens.map(({ text }) => text).join(''), refusal: null };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    usage: { prompt_tokens: of.promptTokens },
    choices: [{ index: 0, message, finish_reason: of.finish, logprobs: of.hasLogprobs ? { content } : null }],
  };
}

function moderation(scores: readonly number[]): object {
  const results = scores.map((score) => ({
    flagged: score >= 0.5,
    categories: { hate: score >= 0.5, 'hate/threatening': false, violence: false },
    category_scores: { hate: score, 'hate/threatening': score / 2, violence: 0 },
    category_applied_input_types: { hate: ['text'], 'hate/threatening': ['text'], violence: [] },
  }));
  return { id: 'modr-1', results };
}
