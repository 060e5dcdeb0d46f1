import type { Audit } from '../../../config/run-config.ts';
import { itemError } from '../../../domain/item-error.ts';
import type { RoleCounts } from '../../../domain/original-role.ts';
import type { Role } from '../../../domain/request.ts';
import { attachmentDrafts } from '../attachments.ts';
import { messageContent } from '../content.ts';
import { inPart, isBlank, numberedPart, promptDraft, settled, type Draft, type SettledDraft } from '../draft.ts';
import { isTurnLike, originalRole, RoleCounter } from './roles.ts';
import { isRoleName, rolesOf, spokenList, type Spoken } from './speakers.ts';
import { CastTurn, readTurns, type Transcript } from './turns.ts';

interface ConversationOptions {
  readonly audit: Audit;
  readonly suffix: string;
  /** Number of drafts of the record before these. */
  readonly position: number;
}

/**
 * The items of one conversation: one for the whole, or with the audit `every-turn` one per user and assistant turn; then
 * one per attachment. At least one.
 */
export function conversationDrafts(values: readonly unknown[], options: ConversationOptions): Draft[] {
  const { suffix } = options;
  const transcript = readTurns(values);
  const { turns, problem, unsent } = transcript;
  const counter = new RoleCounter(transcript.originals);
  const drafts: Draft[] = [];
  if (options.audit === 'every-turn') {
    turns.forEach(([role], index) => {
      if (role === 'system') return;
      drafts.push(turnDraft(transcript, index, counter.upTo(transcript.numbers[index]!), options));
    });
    for (const turn of unsent) {
      drafts.push({ ...settled(`${suffix}#${turn}`, 'multiturn', problem!, counter.upTo(turn)), turn });
    }
    if (problem === null && turns.at(-1)?.[0] === 'system') {
      const own = turns.length === 1 ? suffix : `${suffix}#${transcript.numbers.at(-1)}`;
      drafts.push(endsWithSystem(own, counter.all()));
    }
  } else if (problem !== null) {
    drafts.push(settled(suffix, 'multiturn', problem, counter.all()));
  } else if (turns.at(-1)?.[0] === 'system') {
    drafts.push(endsWithSystem(suffix, counter.all()));
  } else if (turns.length > 0) {
    const request = {
      requestType: 'multiturn',
      modality: 'text',
      messages: turns,
      turns: turns.length,
      conversation: null,
    } as const;
    drafts.push({ suffix, roles: counter.all(), request, error: null });
  }
  if (drafts.length === 0 && transcript.attachments.length === 0) {
    drafts.push(
      settled(suffix, 'multiturn', itemError('INVALID_CONVERSATION', 'the conversation has no turns')),
    );
  }
  for (const draft of attachmentDrafts(transcript.attachments, suffix)) drafts.push(draft);
  return drafts;
}

/** The same for a list that may also be a list of utterances, which may be a chat. */
export function anyConversationDrafts(values: readonly unknown[], options: ConversationOptions): Draft[] {
  const spoken = spokenOnly(values);
  const drafts = spoken === null ? [] : spokenDrafts(spoken, options);
  return drafts.length > 0 ? drafts : conversationDrafts(spoken === null ? values : [], options);
}

/** The items of a list of utterances, as a chat or as a conversation; none if nothing is said. */
export function spokenDrafts(spoken: readonly Spoken[], options: ConversationOptions): Draft[] {
  if (isChat(spoken)) return chatDrafts(spoken, options.suffix);
  const turns = turnsOfSpoken(spoken);
  return turns.length === 0 ? [] : conversationDrafts(turns, options);
}

/** The elements of a list of utterances without turns of a known layout; null for any other list. */
export function spokenOnly(values: readonly unknown[]): readonly Spoken[] | null {
  return values.some(isTurnLike) ? null : spokenList(values);
}

/** The turns of the utterances that are not empty. */
function turnsOfSpoken(list: readonly Spoken[]): readonly unknown[] {
  const spoken = list.filter(({ content, text }) => {
    return content !== null && (!isBlank(text) || messageContent(content)!.attachments.length > 0);
  });
  const roles = rolesOf(spoken);
  return spoken.map(({ speaker, content }, index) => {
    const role = roles[index]!;
    return new CastTurn(role, originalRole(speaker, role), content);
  });
}

function turnDraft(
  transcript: Transcript,
  index: number,
  roles: RoleCounts | null,
  options: ConversationOptions,
): Draft {
  const number = transcript.numbers[index]!;
  return {
    suffix: `${options.suffix}#${number}`,
    roles,
    turn: number,
    request: {
      requestType: 'multiturn',
      modality: 'text',
      messages: transcript.turns,
      turns: index + 1,
      conversation: options.position,
    },
    error: null,
  };
}

function endsWithSystem(suffix: string, roles: RoleCounts | null): SettledDraft {
  const role: Role = 'system';
  return settled(
    suffix,
    'multiturn',
    itemError('INVALID_CONVERSATION', `the final turn has the role ${role}, which is not judged`),
    roles,
  );
}

/**
 * Whether a list of utterances is what people wrote to each other, as messengers export it: messages have times, and not
 * all who speak have roles of a dialogue. Such messages are judged one by one: a chat of a year has no verdict as a whole.
 */
export function isChat(list: readonly Spoken[]): boolean {
  const said = list.filter(({ speaker, content }) => speaker !== null && content !== null);
  return said.some(({ isDated }) => isDated) && said.some(({ speaker }) => !isRoleName(speaker!));
}

/**
 * The items of a chat: each message that has a text, and each attachment, with the message's 1-based place in the chat. May
 * be none: what says only that somebody joined, or names a file, has nothing to judge.
 */
export function chatDrafts(list: readonly Spoken[], suffix: string): Draft[] {
  return list.flatMap((message, index) => {
    const number = index + 1;
    const name = numberedPart('message', number);
    return messageDrafts(message, `${suffix}#${number}`).map((draft) => inPart(name, draft));
  });
}

/** The items of one message: its text, if it has one, and its attachments. */
export function messageDrafts({ content, text }: Spoken, suffix: string): Draft[] {
  const attachments = content === null ? [] : messageContent(content)!.attachments;
  const said = isBlank(text) ? [] : [promptDraft(suffix, text)];
  return [...said, ...attachmentDrafts(attachments, suffix)];
}
