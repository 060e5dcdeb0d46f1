import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { ApiError } from '../api/http.ts';
import { nameReviewer, reviewerName } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { UntrustedText } from '../ui/untrusted-text.tsx';

const asking = signal(false);

/** Whether the reviewer has a name, which deciding requires. Asks for it, once for this browser, if there is none. */
export function hasName(): boolean {
  asking.value = reviewerName() === '';
  return !asking.value;
}

/** The name used for reviews here, and a way to change it. */
export function ReviewerName() {
  const name = reviewerName();
  return (
    <span>
      {name !== '' && (
        <>
          Reviewing as <UntrustedText text={name} max={64} />{' '}
        </>
      )}
      <Button kind="quiet" class="button-small" onClick={() => (asking.value = true)}>
        {name === '' ? 'Give your name' : 'Change name'}
      </Button>
      {asking.value && <NameDialog close={() => (asking.value = false)} />}
    </span>
  );
}

function NameDialog({ close }: { readonly close: () => void }) {
  const [name, setName] = useState(reviewerName());
  const [error, setError] = useState<string | null>(null);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    try {
      await nameReviewer(name);
      close();
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure.message);
    }
  };
  return (
    <Dialog title="Your name" onClose={close}>
      <form class="note-form" onSubmit={(event) => void submit(event)}>
        <Field
          label="Name"
          hint="What you decide carries it, for everybody who can read the run. This browser keeps it."
          error={error}
          control={(attributes) => (
            <input
              {...attributes}
              autofocus
              required
              autocomplete="name"
              maxLength={64}
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          )}
        />
        <Button type="submit" kind="primary">
          Save
        </Button>
      </form>
    </Dialog>
  );
}
