import type { Audit } from '../../../config/run-config.ts';
import { itemError } from '../../../domain/item-error.ts';
import type { RoleCounts, Role } from '../../../domain/request.ts';
import { draftAttachments } from '../attachments.ts';
import { readContent } from '../content.ts';
import {
  nestInPart,
  isBlank,
  formatPart,
  createPromptDraft,
  createFailedDraft,
  type Draft,
  type FailedDraft,
} from '../draft.ts';
import { isTurnLike, toOriginalRole, RoleCounter } from './roles.ts';
import { isRoleName, assignRoles, readUtterances, type Utterance } from './utterances.ts';
import { AssignedTurn, readTurns, type Transcript } from './turns.ts';

interface ConversationOptions {
  readonly audit: Audit;
  readonly suffix: string;
  /** Number of drafts of the record before these. */
  readonly position: number;
}

/**
 * Makes the items of a conversation: one for the whole, or one per user and assistant turn with the audit `every-turn`,
 * followed by one per attachment. Returns at least one item.
 */
export function draftTurns(values: readonly unknown[], options: ConversationOptions): Draft[] {
  const { suffix } = options;
  const transcript = readTurns(values);
  const { turns, problem, unsent } = transcript;
  const counter = new RoleCounter(transcript.originals);
  const drafts: Draft[] = [];
  if (options.audit === 'every-turn') {
    turns.forEach(([role], index) => {
      if (role === 'system') return;
      drafts.push(createTurnDraft(transcript, index, counter.countUpTo(transcript.numbers[index]!), options));
    });
    for (const turn of unsent) {
      drafts.push({
        ...createFailedDraft(`${suffix}#${turn}`, 'multiturn', problem!, counter.countUpTo(turn)),
        turn,
      });
    }
    if (problem === null && turns.at(-1)?.[0] === 'system') {
      const own = turns.length === 1 ? suffix : `${suffix}#${transcript.numbers.at(-1)}`;
      drafts.push(createSystemTurnDraft(own, counter.countAll()));
    }
  } else if (problem !== null) {
    drafts.push(createFailedDraft(suffix, 'multiturn', problem, counter.countAll()));
  } else if (turns.at(-1)?.[0] === 'system') {
    drafts.push(createSystemTurnDraft(suffix, counter.countAll()));
  } else if (turns.length > 0) {
    const request = {
      requestType: 'multiturn',
      modality: 'text',
      messages: turns,
      turns: turns.length,
      conversation: null,
    } as const;
    drafts.push({ suffix, roles: counter.countAll(), request, error: null });
  }
  if (drafts.length === 0 && transcript.attachments.length === 0) {
    drafts.push(
      createFailedDraft(
        suffix,
        'multiturn',
        itemError('INVALID_CONVERSATION', 'the conversation has no turns'),
      ),
    );
  }
  for (const draft of draftAttachments(transcript.attachments, suffix)) drafts.push(draft);
  return drafts;
}

/** Like `draftTurns`, but for a list that may also contain utterances, of a dialogue or a chat. */
export function draftTurnsOrUtterances(values: readonly unknown[], options: ConversationOptions): Draft[] {
  const spoken = readPlainUtterances(values);
  const drafts = spoken === null ? [] : draftUtterances(spoken, options);
  return drafts.length > 0 ? drafts : draftTurns(spoken === null ? values : [], options);
}

/** Makes the items of a list of utterances, as a chat or as a conversation; none if all of them are empty. */
export function draftUtterances(spoken: readonly Utterance[], options: ConversationOptions): Draft[] {
  if (isChat(spoken)) return draftChat(spoken, options.suffix);
  const turns = assignTurns(spoken);
  return turns.length === 0 ? [] : draftTurns(turns, options);
}

/** Reads a list of utterances without turns of a known layout; null for any other list. */
export function readPlainUtterances(values: readonly unknown[]): readonly Utterance[] | null {
  return values.some(isTurnLike) ? null : readUtterances(values);
}

/** Makes turns of the utterances that are not empty. */
function assignTurns(list: readonly Utterance[]): readonly unknown[] {
  const spoken = list.filter(({ content, text }) => {
    return content !== null && (!isBlank(text) || readContent(content)!.attachments.length > 0);
  });
  const roles = assignRoles(spoken);
  return spoken.map(({ speaker, content }, index) => {
    const role = roles[index]!;
    return new AssignedTurn(role, toOriginalRole(speaker, role), content);
  });
}

function createTurnDraft(
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

function createSystemTurnDraft(suffix: string, roles: RoleCounts | null): FailedDraft {
  const role: Role = 'system';
  return createFailedDraft(
    suffix,
    'multiturn',
    itemError('INVALID_CONVERSATION', `the final turn has the role ${role}, which is not judged`),
    roles,
  );
}

/**
 * Whether a list of utterances is a chat between people, as messengers export it: messages have times, and not all speakers are
 * named by roles. Such messages are judged one by one: a verdict on a year of chat would say nothing.
 */
export function isChat(list: readonly Utterance[]): boolean {
  const said = list.filter(({ speaker, content }) => speaker !== null && content !== null);
  return said.some(({ isDated }) => isDated) && said.some(({ speaker }) => !isRoleName(speaker!));
}

/**
 * Makes an item for each message with text and for each attachment, with the message's 1-based position in the chat. Messages
 * about people who joined or files that were sent have no text.
 */
export function draftChat(list: readonly Utterance[], suffix: string): Draft[] {
  return list.flatMap((message, index) => {
    const number = index + 1;
    const name = formatPart('message', number);
    return draftChatMessage(message, `${suffix}#${number}`).map((draft) => nestInPart(name, draft));
  });
}

/** Makes the items of one message: its text, if any, and its attachments. */
export function draftChatMessage({ content, text }: Utterance, suffix: string): Draft[] {
  const attachments = content === null ? [] : readContent(content)!.attachments;
  const said = isBlank(text) ? [] : [createPromptDraft(suffix, text)];
  return [...said, ...draftAttachments(attachments, suffix)];
}
