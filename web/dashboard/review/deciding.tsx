import { useSignal } from '@preact/signals';
import type { ItemRow } from '../../../src/dashboard/api/items.ts';
import type { Decision } from '../../../src/domain/outcome.ts';
import { useShortcuts } from '../app/shortcuts.ts';
import { DecideBar } from '../item/decide-bar.tsx';
import { NoteDialog } from './note-dialog.tsx';
import type { Judged, Reviewing } from './reviewing.ts';

interface DecidingProps {
  readonly reviewing: Reviewing;
  readonly item: Judged;
  /** The review that counts now. */
  readonly review: ItemRow['review'];
}

/** Deciding on the selected item, by keys or by buttons. */
export function Deciding({ reviewing, item, review }: DecidingProps) {
  const noting = useSignal(false);
  const decide = (decision: Decision): void => reviewing.decide(item, { decision });
  const agree = (): void => reviewing.agree(item);
  const note = (): void => {
    noting.value = true;
  };
  const undo = (): void => void reviewing.undo();
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
      <DecideBar item={item} review={review} decide={decide} agree={agree} note={note} undo={undo} />
      {noting.value && (
        <NoteDialog
          item={item}
          review={review}
          save={(made) => reviewing.decide(item, made)}
          close={() => (noting.value = false)}
        />
      )}
    </>
  );
}
