import type { JSX } from 'preact';
import { escapeText } from '../../../src/domain/text/escape-text.ts';

const MAX_LENGTH = 160;

/**
 * A string from the record, such as an id or a path: limited in length, isolated, with invisible characters written
 * out.
 */
export function Name({ text }: { readonly text: string }): JSX.Element {
  return <bdi class="name">{escapeText(text, MAX_LENGTH)}</bdi>;
}
