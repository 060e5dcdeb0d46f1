import { itemError } from '../../domain/item-error.ts';
import { JsonFields } from '../json/json-fields.ts';
import { isFields, isReadonlyArray, type Fields, type ReadRecord } from '../record.ts';
import { ID_NAMES } from './columns.ts';
import { draftRecord, recognise, withNested, type RecordOptions } from './draft-record.ts';
import { type Draft, type Drafted, inPart, PartCounter, settled, withoutEncoded } from './draft.ts';
import { draftNamedColumns } from './layouts/named-columns.ts';
import { MAX_ITEMS, NestedItems, placed, type NestedOptions } from './layouts/nested.ts';

type Passed = NestedOptions['passed'];

/**
 * The items of a record, as in `draftRecord`. There may be none for the object around the records.
 */
export function draftSource(record: ReadRecord, options: RecordOptions, passed?: Passed): Drafted {
  const { drafts, judged } = draftContent(record, options, passed);
  return { drafts: drafts.map(withoutEncoded), judged };
}

function draftContent(record: ReadRecord, options: RecordOptions, passed: Passed): Drafted {
  const { content, isAround } = record;
  if (isAround !== true || !isFields(content)) return draftRecord(content, options, passed);
  const { audit, textColumns } = options;
  if (textColumns !== null) return draftNamedInside(content, textColumns, { audit, passed });
  const main = recognise(content, audit);
  if (main !== null) return withNested(content, main, audit, passed);
  const items = new NestedItems({ audit, before: 0, lenient: false, passed });
  const judged = content
    .names()
    .filter((name) => !ID_NAMES.includes(name.toLowerCase()) && items.member(name, content.get(name)));
  return { drafts: items.drafts(), judged };
}

/** A value and the field of the outermost object that it is in. */
interface Held {
  readonly field: string | undefined;
  readonly value: unknown;
}

/** The columns the user named, of each object that has any of them, such as the records of a second array. */
function draftNamedInside(
  fields: Fields,
  columns: readonly string[],
  options: Pick<NestedOptions, 'audit' | 'passed'>,
): Drafted {
  const drafts: Draft[] = [];
  const judged: string[] = [];
  let pieces = 0;
  let tooMany = 0;
  const suffix = (): string => (++pieces === 1 ? '' : `#nested${pieces}`);
  const parts = new PartCounter();
  // An explicit stack, last first: values nest as deep as a parser lets them.
  const pending: Held[] = [{ field: undefined, value: fields }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { field, value } = next;
    if (isReadonlyArray(value)) {
      for (let index = value.length - 1; index >= 0; index--) pending.push({ field, value: value[index] });
      continue;
    }
    if (typeof value !== 'object' || value === null) continue;
    const here = value === fields ? fields : new JsonFields(value, null);
    const held = columns.filter((name) => (here.get(name) ?? null) !== null);
    if (held.length > 0) {
      const found = draftNamedColumns(here, held, options).drafts;
      if (here === fields) judged.push(...held);
      if (drafts.length + found.length > MAX_ITEMS) tooMany += found.length;
      else {
        const own = suffix();
        const part = here === fields ? null : parts.next(field);
        const first = drafts.length;
        for (const draft of found) drafts.push(placed(draft, { suffix: own, part, first }));
      }
    }
    const used = new Set(held.map((name) => here.positionOf(name)));
    for (const name of [...here.nestedNames()].reverse()) {
      if (!used.has(here.positionOf(name))) pending.push({ field: field ?? name, value: here.get(name) });
    }
  }
  if (tooMany > 0) {
    const what = `there are more than ${MAX_ITEMS} texts around the records; ${tooMany} are not judged`;
    const error = settled(suffix(), null, itemError('ITEM_TOO_LARGE', what));
    drafts.push(inPart(parts.next(undefined), error));
  }
  return { drafts, judged };
}
