import type { Audit } from '../../../config/run-config.ts';
import { itemError } from '../../../domain/item-error.ts';
import type { Fields } from '../../record.ts';
import { VALUE_NOT_TEXT } from '../columns.ts';
import { isBlank, promptDraft, settled, type Draft, type Drafted } from '../draft.ts';
import { NestedItems, type NestedOptions } from './nested.ts';
import { textOf } from '../values.ts';

/**
 * The columns the user named: their non-blank texts joined by an empty line, and the items in those that hold lists and
 * objects. At least one draft.
 */
export function draftNamedColumns(
  fields: Fields,
  names: readonly string[],
  options: { readonly audit: Audit } & Pick<NestedOptions, 'passed'>,
): Drafted {
  const texts: string[] = [];
  const nested: string[] = [];
  for (const name of names) {
    const text = textOf(fields.get(name));
    if (text === null) nested.push(name);
    else if (text !== undefined) texts.push(text);
  }
  const drafts: Draft[] = [];
  if (texts.length > 0) {
    drafts.push(promptDraft('', texts.filter((text) => !isBlank(text)).join('\n\n')));
  }
  if (nested.length > 0) {
    const { audit, passed } = options;
    const items = new NestedItems({ audit, before: drafts.length, lenient: true, passed });
    for (const name of nested) items.member(name, fields.get(name));
    for (const draft of items.drafts()) drafts.push(draft);
    if (drafts.length === 0) drafts.push(settled('', 'prompt', VALUE_NOT_TEXT));
  }
  if (drafts.length === 0) {
    const error = itemError('MISSING_PAYLOAD', 'the record has none of the columns to judge');
    drafts.push(settled('', 'prompt', error));
  }
  return { drafts, judged: names };
}
