import { isUtf8 } from 'node:buffer';
import type { Headers } from '@zone-eu/mailsplit';
import libmime from 'libmime';
import { longestRun, SENTENCE } from './word-runs.ts';

/** Fields that mail programs show (RFC 5322, 3.6), in the order in which their text is returned. */
const SHOWN = [
  ...['subject', 'from', 'sender', 'reply-to', 'to', 'cc', 'bcc'],
  ...['comments', 'keywords', 'organization', 'content-description'],
];
/** Fields written for other programs, not for people. */
const TECHNICAL =
  /^(?:received|return-path|delivered-to|message-id|in-reply-to|references|date|mime-version|content-.*|dkim-signature|arc-.*|authentication-results|received-spf)$/;
/** Minimum words in a row for a field to be judged. */
const WORDS = 2;

/** Start of a field, before its content; a line without it is all content. */
const KEY = /^[!-9;-~]+[ \t]*:/;

/**
 * Returns the text of a header that a reader sees, without addresses, and the words in fields that readers do not see.
 */
export function headerText(headers: Headers): { readonly shown: string; readonly hidden: string } {
  const fields = fieldsOf(headers);
  const shown = SHOWN.flatMap((name) => fields.filter(({ key }) => key === name)).map(({ key, text }) =>
    key === 'subject' ? text : withoutAddresses(text),
  );
  const hidden = fields
    .filter(({ key }) => !SHOWN.includes(key))
    .filter(({ key, text }) => longestRun(text) >= (TECHNICAL.test(key) ? SENTENCE : WORDS))
    .map(({ text }) => text);
  return { shown: linesOf(shown), hidden: linesOf(hidden) };
}

function fieldsOf(headers: Headers): readonly { readonly key: string; readonly text: string }[] {
  const lines = [...headers.getList()];
  // The first line in a mailbox or a form gives the source of the mail.
  for (const line of [headers.mbox, headers.http]) if (line !== false) lines.push({ key: 'received', line });
  return lines.map(({ key, line }) => {
    const bytes = Buffer.from(line.replace(KEY, ''), 'latin1');
    return { key, text: libmime.decodeWords(bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')) };
  });
}

/** Keeps the lines with at least two words in a row. */
export function wordsOf(text: string): string {
  return linesOf(text.split('\n').filter((line) => longestRun(line) >= WORDS));
}

/** Joins the lines, each once, omitting those without a letter, digit or symbol. */
function linesOf(texts: readonly string[]): string {
  const lines = texts.map((text) => text.replace(/\s+/g, ' ').trim());
  return [...new Set(lines)].filter((line) => /[\p{L}\p{N}\p{S}]/u.test(line)).join('\n');
}

function withoutAddresses(text: string): string {
  const named = text.replace(/<[^<>]*>|"/g, '').split(/\s/);
  return named.filter((word) => !word.includes('@')).join(' ');
}
