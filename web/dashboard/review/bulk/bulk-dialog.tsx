import { useSignal } from '@preact/signals';
import { DECISIONS } from '../../../../src/domain/outcome.ts';
import { useLoad } from '../../api/use-load.ts';
import { lookAt } from '../../item/reveals.ts';
import { Button } from '../../ui/button.tsx';
import { DecisionBar } from '../../ui/decision-bar.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ENDING_WORDS } from '../../ui/badge.tsx';
import { Field } from '../../ui/field.tsx';
import { count, formatCount } from '../../ui/format.ts';
import { Notice } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { type BulkChoice, type BulkItems, bulkItems, chosenFor, MAX_AT_ONCE } from './bulk.ts';
import { MAX_NOTE } from '../note-dialog.tsx';
import type { Reviewing } from '../reviewing.ts';

interface BulkDialogProps {
  readonly reviewing: Reviewing;
  readonly close: () => void;
}

/** A decision on all open items of the list: first a preview of the changes, then a confirmation. */
export function BulkDialog({ reviewing, close }: BulkDialogProps) {
  const { list, run } = reviewing;
  // The items of the preview are decided, even if the list changes in between.
  const { value, error } = useLoad(run, (signal) => bulkItems(run, list.filter.peek(), signal));
  const choice = useSignal<BulkChoice | null>(null);
  const note = useSignal('');
  const confirmed = useSignal(false);
  const { value: chosen } = choice;
  const rows = value?.rows.filter((row) => chosen === null || chosenFor(row, chosen) !== null) ?? [];
  const unseen = rows.filter(({ seq }) => lookAt(run, seq) !== true).length;

  const submit = (): void => {
    if (chosen === null || !confirmed.value || rows.length === 0) return;
    void reviewing.bulk.decide(rows, chosen, note.value);
    close();
  };
  const choose = (next: BulkChoice): void => {
    choice.value = next;
    confirmed.value = false;
  };

  return (
    <Dialog
      title="Decide on all items of the list"
      onClose={close}
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            kind="primary"
            onClick={submit}
            disabled={chosen === null || !confirmed.value || rows.length === 0}
          >
            Decide on {formatCount(rows.length, 'item')}
          </Button>
        </>
      }
    >
      {error !== null && <Notice tone="block" role="alert" title={error.message} />}
      {value === null && error === null && <Skeleton />}
      {value !== null && (
        <form
          class="note-form"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <Preview items={value} />
          {value.rows.length > 0 && (
            <>
              <fieldset class="choices">
                <legend>Decision</legend>
                {([...DECISIONS, 'agree'] as const).map((name) => (
                  <label key={name}>
                    <input type="radio" name="bulk" checked={chosen === name} onChange={() => choose(name)} />{' '}
                    {name === 'agree' ? 'As the run decided' : ENDING_WORDS[name]}
                  </label>
                ))}
              </fieldset>
              <Field
                label="Note"
                hint="Kept with each of these reviews. Do not quote what must not be kept."
                control={(attributes) => (
                  <textarea
                    {...attributes}
                    rows={2}
                    maxLength={MAX_NOTE}
                    value={note.value}
                    onInput={(event) => (note.value = event.currentTarget.value)}
                  />
                )}
              />
              {chosen !== null && (
                <>
                  <p>{effectOf(rows, chosen)}</p>
                  <label class="check">
                    <input
                      type="checkbox"
                      checked={confirmed.value}
                      onChange={(event) => (confirmed.value = event.currentTarget.checked)}
                    />
                    {confirmationOf(rows.length, unseen)}
                  </label>
                </>
              )}
            </>
          )}
        </form>
      )}
    </Dialog>
  );
}

/** Numbers of items that will be decided, and that are left unchanged. */
function Preview({ items: { rows, restricted, beyond } }: { readonly items: BulkItems }) {
  const ended = (ending: string): number => rows.filter(({ decision }) => decision === ending).length;
  const unjudged = rows.filter(({ decision }) => decision === null).length;
  return (
    <div>
      <p>
        <strong>
          {rows.length === 0
            ? 'No open item of the list can be decided here.'
            : formatCount(rows.length, 'open item')}
        </strong>
        {rows.length > 0 && '. What the run decided on them:'}
      </p>
      {rows.length > 0 && (
        <DecisionBar
          label="What the run decided on them"
          endings={{ block: ended('block'), review: ended('review'), allow: ended('allow'), unjudged }}
        />
      )}
      <p class="hint">
        Items that are reviewed already stay as they are.
        {restricted > 0 && ` ${formatCount(restricted, 'restricted item')} must be decided one by one.`}
        {beyond > 0 &&
          ` ${formatCount(beyond, 'more open item')} in the list: at most ${count(MAX_AT_ONCE)} are decided at once.`}
      </p>
    </div>
  );
}

function confirmationOf(items: number, unseen: number): string {
  const decide = `I decide on ${formatCount(items, 'item')}`;
  if (unseen === 0) return decide;
  return `${decide}, ${unseen === items ? 'all' : count(unseen)} of them without looking; labels will say so`;
}

/** Effect of a decision in words. */
function effectOf(rows: BulkItems['rows'], choice: BulkChoice): string {
  const agreed = rows.filter((row) => row.decision === chosenFor(row, choice)).length;
  const overturned = rows.length - agreed;
  return `Agrees with the run on ${formatCount(agreed, 'item')}, overturns it on ${formatCount(overturned, 'item')}.`;
}
