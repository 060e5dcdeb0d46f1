import { attachmentDrafts } from '../attachments.ts';
import { messageContent } from '../content.ts';
import { inPart, isBlank, numberedPart, promptDraft, type Draft } from '../draft.ts';
import { isRoleName, type Spoken } from './speakers.ts';

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
