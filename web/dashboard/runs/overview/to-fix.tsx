import { useState } from 'preact/hooks';
import type { FileToFix, RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { ApiError } from '../../api/http.ts';
import { filesToFix, startRun } from '../../api/runs.ts';
import { session } from '../../api/session.ts';
import { useLoad } from '../../api/use-load.ts';
import { Link } from '../../app/link.tsx';
import { navigate } from '../../app/router.ts';
import { indexed } from '../../review/review-api.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { count, counted } from '../../ui/format.ts';
import { Notice } from '../../ui/notice.tsx';

const NOTHING_SAID = (): void => undefined;

/** The files of which nothing was judged: why, how many items they have, and what would have them judged. */
export function ToFix({ run }: { readonly run: RunDetail }) {
  const { value, error } = useLoad(run.run, (signal) =>
    indexed(() => filesToFix(run.run, signal), signal, NOTHING_SAID),
  );
  if (error !== null) return <Notice tone="block" role="alert" title={error.message} />;
  if (value === null || value.files === 0) return null;
  const { files, items, listed } = value;
  return (
    <section class="card to-fix" aria-labelledby="to-fix">
      <h2 id="to-fix">To fix</h2>
      <p>
        Nothing was judged of {counted(files, 'file')} with {counted(items, 'item')}.
        {listed.length < files && ` The ${count(listed.length)} with the most items:`}
      </p>
      <ul>
        {listed.map((file) => (
          <File key={file.path} run={run} file={file} />
        ))}
      </ul>
    </section>
  );
}

function File({ run, file }: { readonly run: RunDetail; readonly file: FileToFix }) {
  const { path, items, seq, code, why, advice, command } = file;
  const current = session.value;
  const mayStart = current.state === 'open' && current.session.may_control && run.content.readable;
  return (
    <li>
      <h3>
        <Link to={{ page: 'item', run: run.run, seq }}>
          <Foreign text={path} max={120} />
        </Link>{' '}
        <span class="hint">{counted(items, 'item')}</span>
      </h3>
      <p>
        <span class="code">{code}</span> <Foreign text={why} max={300} />
      </p>
      <p>What to do: {advice}.</p>
      {command !== null && (
        <p>
          <code class="command">
            <Foreign text={command} max={2000} />
          </code>
        </p>
      )}
      {mayStart && file.needs !== null && <Rerun file={file} needs={file.needs} />}
    </li>
  );
}

/** Judges a file by itself in a new run, in which its column or its encoding is named. */
function Rerun({ file, needs }: { readonly file: FileToFix; readonly needs: 'column' | 'encoding' }) {
  const [named, setNamed] = useState(file.encoding ?? '');
  const [policy, setPolicy] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const list = `columns-${file.seq}`;
  const start = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const { run } = await startRun({
        paths: [file.absolute],
        policy: policy.trim() === '' ? null : policy.trim(),
        ...(needs === 'column' ? { text_columns: [named] } : { encoding: named.trim() }),
      });
      navigate({ page: 'run', run, tab: 'overview' });
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure.message);
      setBusy(false);
    }
  };
  return (
    <details>
      <summary>Judge it in a new run</summary>
      <form class="stack" onSubmit={(event) => void start(event)}>
        <Field
          label={needs === 'column' ? 'Column with the text' : 'Encoding'}
          hint={needs === 'encoding' ? 'A WHATWG label, such as windows-1252.' : undefined}
          error={error}
          control={(attributes) => (
            <input
              {...attributes}
              class="code"
              required
              autocomplete="off"
              spellcheck={false}
              list={list}
              value={named}
              onInput={({ currentTarget }) => setNamed(currentTarget.value)}
            />
          )}
        />
        <datalist id={list}>
          {file.columns.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Field
          label="Policy file (optional)"
          hint="Without one, what the guard flags is blocked."
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
        <p>
          <Button kind="primary" type="submit" icon="running" busy={busy}>
            Start
          </Button>
        </p>
      </form>
    </details>
  );
}
