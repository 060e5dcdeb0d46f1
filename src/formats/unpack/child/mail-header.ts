import { isUtf8 } from 'node:buffer';
import type { Headers } from '@zone-eu/mailsplit';
import libmime from 'libmime';
import { longestRun, SENTENCE } from './word-runs.ts';

/** Fields that mail programs show (RFC 5322, 3.6), in the order of the text that is made of them. */
const SHOWN = [
  ...['subject', 'from', 'sender', 'reply-to', 'to', 'cc', 'bcc'],
  ...['comments', 'keywords', 'organization', 'content-description'],
];
/** Fields that programs write for programs. */
const TECHNICAL =
  /^(?:received|return-path|delivered-to|message-id|in-reply-to|references|date|mime-version|content-.*|dkim-signature|arc-.*|authentication-results|received-spf)$/;
/** A field with this many words in a row is judged. */
const WORDS = 2;

/** Before the content of a field; a line without it is content alone. */
const KEY = /^[!-9;-~]+[ \t]*:/;

/** The text of a header that a reader sees, without addresses, and the words in fields that none shows. */
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
  // The first line in a mailbox or a form names the source of the mail.
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

/** Each line once, without those that have no letter or digit. */
function linesOf(texts: readonly string[]): string {
  const lines = texts.map((text) => text.replace(/\s+/g, ' ').trim());
  return [...new Set(lines)].filter((line) => /[\p{L}\p{N}\p{S}]/u.test(line)).join('\n');
}

function withoutAddresses(text: string): string {
  const named = text.replace(/<[^<>]*>|"/g, '').split(/\s/);
  return named.filter((word) => !word.includes('@')).join(' ');
}
