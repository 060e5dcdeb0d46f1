import type { FileToFix, RunDetail } from '../../../../src/dashboard/api/runs.ts';
import { filesToFix } from '../../api/runs.ts';
import { useLoad } from '../../api/use-load.ts';
import { Link } from '../../app/router.tsx';
import { Command, UntrustedText } from '../../ui/untrusted-text.tsx';
import { count, formatCount } from '../../ui/format.ts';
import { Notice } from '../../ui/notice.tsx';

/** The files without a single judged item: the reason, the number of items, and the remedy. */
export function ToFix({ run }: { readonly run: RunDetail }) {
  const { value, error } = useLoad(run.run, (signal) => filesToFix(run.run, signal));
  if (error !== null) return <Notice tone="block" role="alert" title={error.message} />;
  if (value === null || value.files === 0) return null;
  const { files, items, listed } = value;
  return (
    <section class="card to-fix" aria-labelledby="to-fix">
      <h2 id="to-fix">To fix</h2>
      <p>
        Nothing was judged of {formatCount(files, 'file')} with {formatCount(items, 'item')}.
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
  const { path, items, seq, code, why, advice, columns, command } = file;
  return (
    <li>
      <h3>
        <Link to={{ page: 'item', run: run.run, seq }}>
          <UntrustedText text={path} max={120} />
        </Link>{' '}
        <span class="hint">{formatCount(items, 'item')}</span>
      </h3>
      <p>
        <span class="code">{code}</span> <UntrustedText text={why} max={300} />
      </p>
      <p>What to do: {advice}.</p>
      {columns.length > 0 && (
        <p class="hint">
          Its columns:{' '}
          {columns.map((name, index) => (
            <span key={name}>
              {index > 0 && ', '}
              <UntrustedText text={name} max={60} />
            </span>
          ))}
        </p>
      )}
      {command !== null && <Command text={command} />}
    </li>
  );
}
