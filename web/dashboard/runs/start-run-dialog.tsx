import { useState } from 'preact/hooks';
import { ApiError } from '../api/http.ts';
import { startRun } from '../api/runs.ts';
import { session } from '../api/session.ts';
import { navigate } from '../app/router.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Notice } from '../ui/notice.tsx';
import { Roots } from './first-run.tsx';

const FORM = 'start-run';

/** Asks what to judge, and starts a run of it. */
export function StartRunDialog({ onClose }: { readonly onClose: () => void }) {
  const [paths, setPaths] = useState('');
  const [name, setName] = useState('');
  const [policy, setPolicy] = useState('');
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const current = session.value;
  const roots = current.state === 'open' ? current.session.roots : [];

  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const { run } = await startRun({
        paths: paths.split('\n').filter((line) => line.trim() !== ''),
        name: name.trim() === '' ? null : name.trim(),
        policy: policy.trim() === '' ? null : policy.trim(),
      });
      onClose();
      navigate({ page: 'run', run, tab: 'overview' });
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
      setBusy(false);
    }
  };
  // A message about a setting begins with its flag.
  const errorAt = (field: 'paths' | 'name' | 'policy'): string | null =>
    error?.field === field ? error.message.replace(`--${field}: `, '') : null;

  return (
    <Dialog
      title="Start a run"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button kind="primary" type="submit" form={FORM} icon="running" busy={busy}>
            Start
          </Button>
        </>
      }
    >
      <form id={FORM} class="stack" onSubmit={(event) => void submit(event)}>
        {error !== null && error.field === null && <Notice tone="block" title={error.message} role="alert" />}
        <Field
          label="What to judge"
          hint={
            <>
              Files, folders or globs, one a line, or one job file. All of them below <Roots roots={roots} />
              {roots.length > 1 ? '; a relative path begins at the first of these.' : '.'}
            </>
          }
          error={errorAt('paths')}
          control={(attributes) => (
            <textarea
              {...attributes}
              class="code"
              rows={3}
              required
              autofocus
              spellcheck={false}
              placeholder="uploads"
              value={paths}
              onInput={({ currentTarget }) => setPaths(currentTarget.value)}
            />
          )}
        />
        <Field
          label="Name (optional)"
          hint="To tell this run from others: lower-case letters, digits and hyphens."
          error={errorAt('name')}
          control={(attributes) => (
            <input
              {...attributes}
              maxLength={48}
              autocomplete="off"
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          )}
        />
        <Field
          label="Policy file (optional)"
          hint="Thresholds for review and block. Without one, what the guard flags is blocked."
          error={errorAt('policy')}
          control={(attributes) => (
            <input
              {...attributes}
              class="code"
              autocomplete="off"
              spellcheck={false}
              value={policy}
              onInput={({ currentTarget }) => setPolicy(currentTarget.value)}
            />
          )}
        />
      </form>
    </Dialog>
  );
}
