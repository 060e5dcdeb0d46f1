import type { ContentProblem, ItemContent } from '../api/items.ts';

export type Unavailable = Extract<ItemContent, { kind: 'unavailable' }>;

const MESSAGES: Readonly<Record<ContentProblem, string>> = {
  restricted:
    'This item, or one that it shares content with, may show children in sexual contexts. It is not shown.',
  not_your_run: 'You did not create this run on this machine, so its sources are not read.',
  outside_root: 'Its file is outside the folders that the dashboard may read (--root).',
  source_missing: 'Its file is not there any more.',
  source_changed: 'The source has changed since it was judged.',
  not_readable: 'Its file cannot be read.',
  decoding_failed: 'It cannot be decoded.',
};

/** Why there is nothing to show. `message` replaces the usual one; it holds our own words only. */
export function unavailable(reason: ContentProblem, message = MESSAGES[reason]): Unavailable {
  return { kind: 'unavailable', reason, message };
}
