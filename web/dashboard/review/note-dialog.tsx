import { useSignal } from '@preact/signals';
import type { NewReview } from '../../../src/dashboard/api/reviews.ts';
import { DECISIONS, type Decision } from '../../../src/domain/outcome.ts';
import { CATEGORIES, type CategoryKey } from '../../../src/domain/taxonomy.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { ENDING_WORDS } from '../ui/badge.tsx';
import type { Judged } from './reviewing.ts';

/** Limit of the API. */
export const MAX_NOTE = 2000;

interface NoteDialogProps {
  readonly item: Judged;
  /** Initial choice; null if none. */
  readonly decision: Decision | null;
  readonly save: (review: NewReview & { readonly decision: Decision }) => void;
  readonly close: () => void;
}

/**
 * A decision with a note, and with categories chosen by the reviewer. A restricted item requires a note and a
 * confirmation.
 */
export function NoteDialog({ item, decision: chosen, save, close }: NoteDialogProps) {
  const decision = useSignal(chosen);
  const note = useSignal('');
  const said = useSignal(false);
  const confirmed = useSignal(!item.restricted);
  const isComplete =
    decision.value !== null && confirmed.value && (!item.restricted || note.value.trim() !== '');
  const categories = useSignal<ReadonlySet<CategoryKey>>(new Set());

  const submit = (): void => {
    if (decision.value === null || !isComplete) return;
    save({
      decision: decision.value,
      categories: said.value ? [...categories.value] : null,
      note: note.value,
    });
    close();
  };
  const choose = (key: CategoryKey, chosen: boolean): void => {
    const next = new Set(categories.value);
    if (chosen) next.add(key);
    else next.delete(key);
    categories.value = next;
  };

  return (
    <Dialog
      title={`Decide on item ${item.seq}`}
      onClose={close}
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" onClick={submit} disabled={!isComplete}>
            Save <kbd>Ctrl</kbd> <kbd>Enter</kbd>
          </Button>
        </>
      }
    >
      <form
        class="note-form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.repeat && (event.ctrlKey || event.metaKey)) submit();
        }}
      >
        <fieldset class="choices">
          <legend>Decision</legend>
          {DECISIONS.map((name) => (
            <label key={name}>
              <input
                type="radio"
                name="decision"
                checked={decision.value === name}
                onChange={() => (decision.value = name)}
              />{' '}
              {ENDING_WORDS[name]}
              {name === item.decision && <span class="hint"> (the run)</span>}
            </label>
          ))}
        </fieldset>
        <Field
          label={item.restricted ? 'Note: why, and what was done' : 'Note'}
          hint="Kept beside the run, and exported with the labels. Do not quote what must not be kept."
          control={(attributes) => (
            <textarea
              {...attributes}
              autofocus
              rows={4}
              maxLength={MAX_NOTE}
              value={note.value}
              onInput={(event) => (note.value = event.currentTarget.value)}
            />
          )}
        />
        {item.restricted && (
          <label class="check">
            <input
              type="checkbox"
              checked={confirmed.value}
              onChange={(event) => (confirmed.value = event.currentTarget.checked)}
            />
            I decide on this restricted item without seeing it
          </label>
        )}
        <label class="check">
          <input
            type="checkbox"
            checked={said.value}
            onChange={(event) => (said.value = event.currentTarget.checked)}
          />
          Say which categories it falls in
        </label>
        {said.value && (
          <fieldset class="choices columns">
            <legend class="hidden">Categories you find</legend>
            {CATEGORIES.map(({ key, label }) => (
              <label key={key} class="check">
                <input
                  type="checkbox"
                  checked={categories.value.has(key)}
                  onChange={(event) => choose(key, event.currentTarget.checked)}
                />
                {label}
              </label>
            ))}
            {categories.value.size === 0 && <p class="hint">None: it falls in no category.</p>}
          </fieldset>
        )}
      </form>
    </Dialog>
  );
}
