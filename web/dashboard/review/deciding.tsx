import { useSignal } from '@preact/signals';
import type { ItemRow } from '../../../src/dashboard/api/items.ts';
import type { NewReview } from '../../../src/dashboard/api/reviews.ts';
import { escapeText } from '../../../src/domain/text/escape-text.ts';
import type { Decision } from '../../../src/domain/outcome.ts';
import { useShortcuts } from '../app/shortcuts.ts';
import { hasName } from '../login/reviewer-name.tsx';
import { decideUnseen, lookAt } from '../item/reveals.ts';
import { Button } from '../ui/button.tsx';
import { NoteDialog } from './note-dialog.tsx';
import type { Judged, Reviewing } from './reviewing.ts';

interface DecidingProps {
  readonly reviewing: Reviewing;
  readonly item: Judged;
  /** Whether content of the run can be shown. */
  readonly readable: boolean;
  /** The review that currently counts. */
  readonly review: ItemRow['review'];
}

const LOOK_FIRST = 'Not taken: look at the content first, with Show content or s.';
const NOTHING_TO_AGREE_WITH =
  'This item was not judged: there is nothing to agree with. Decide with 1, 2 or 3.';
/** Maximum number of characters of a problem to show. */
const MAX_PROBLEM = 300;

const CHOICES = [
  { decision: 'allow', word: 'Allow', key: '1' },
  { decision: 'review', word: 'Review', key: '2' },
  { decision: 'block', word: 'Block', key: '3' },
] as const;

/**
 * Decides on the selected item, by keys or buttons: only after it was viewed, and for a restricted item with a
 * confirmation and a note. Must have the seq as its key.
 */
export function Deciding({ reviewing, item, readable, review }: DecidingProps) {
  const { run } = reviewing;
  /** Undefined if the dialog is closed. */
  const noting = useSignal<Decision | null | undefined>(undefined);
  const refused = useSignal('');
  const failed = reviewing.failed.value?.seq === item.seq ? reviewing.failed.value : null;

  const save = (made: NewReview & { readonly decision: Decision }): void =>
    void reviewing.decide(item, { ...made, seen: lookAt(run, item.seq) === true });
  const mayDecide = (): boolean => {
    if (!hasName()) return false;
    const may = item.restricted || !readable || decideUnseen.value.value || lookAt(run, item.seq) !== null;
    refused.value = may ? '' : LOOK_FIRST;
    return may;
  };
  const decide = (decision: Decision): void => {
    if (!mayDecide()) return;
    if (item.restricted) noting.value = decision;
    else save({ decision });
  };
  const agree = (): void => {
    if (item.decision === null) refused.value = NOTHING_TO_AGREE_WITH;
    else decide(item.decision);
  };
  const note = (): void => {
    if (mayDecide()) noting.value = review?.decision ?? item.decision;
  };
  const undo = (): void => {
    if (hasName()) void reviewing.undo();
  };
  useShortcuts('Decide', [
    { keys: ['1'], does: 'Allow, and go on', run: () => decide('allow') },
    { keys: ['2'], does: 'Review, and go on', run: () => decide('review') },
    { keys: ['3'], does: 'Block, and go on', run: () => decide('block') },
    { keys: ['a'], does: 'Agree with the run, and go on', run: agree },
    { keys: ['n'], does: 'Decide with a note or categories', run: note },
    { keys: ['u'], does: 'Undo the last decision', run: undo },
  ]);
  return (
    <>
      {failed !== null && (
        <p class="decide-news" role="alert">
          Not saved: {escapeText(failed.why, MAX_PROBLEM)} Decide again to save it.
        </p>
      )}
      {refused.value !== '' && (
        <p class="decide-news" role="alert">
          {refused.value}
        </p>
      )}
      <div class="decide-bar" role="group" aria-label="Your decision">
        {CHOICES.map(({ decision, word, key }) => (
          <Button
            key={decision}
            class={`choice ${decision}`}
            icon={decision}
            aria-pressed={review?.decision === decision && !review.reopened}
            onClick={() => decide(decision)}
          >
            {word} <kbd>{key}</kbd>
          </Button>
        ))}
        <Button onClick={agree} disabled={item.decision === null} icon="check">
          Agree <kbd>a</kbd>
        </Button>
        <Button kind="quiet" class="button-small" onClick={note}>
          Note <kbd>n</kbd>
        </Button>
        <Button kind="quiet" class="button-small" onClick={undo}>
          Undo <kbd>u</kbd>
        </Button>
      </div>
      {noting.value !== undefined && (
        <NoteDialog
          item={item}
          decision={noting.value}
          save={save}
          close={() => (noting.value = undefined)}
        />
      )}
    </>
  );
}
