import type { ItemRow } from '../../../src/dashboard/api/items.ts';
import type { Decision } from '../../../src/domain/outcome.ts';
import { Button } from '../ui/button.tsx';
import type { Judged } from '../review/reviewing.ts';

interface DecideBarProps {
  readonly item: Judged;
  /** The review that counts now. */
  readonly review: ItemRow['review'];
  readonly decide: (decision: Decision) => void;
  readonly agree: () => void;
  readonly note: () => void;
  readonly undo: () => void;
}

const CHOICES = [
  { decision: 'allow', word: 'Allow', key: '1' },
  { decision: 'review', word: 'Review', key: '2' },
  { decision: 'block', word: 'Block', key: '3' },
] as const;

/** What a person can decide on the selected item. */
export function DecideBar({ item, review, decide, agree, note, undo }: DecideBarProps) {
  return (
    <div class="decide-bar" role="group" aria-label="Your decision">
      {CHOICES.map(({ decision, word, key }) => (
        <Button
          key={decision}
          class={`choice ${decision}`}
          icon={decision}
          aria-pressed={review?.decision === decision}
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
  );
}
