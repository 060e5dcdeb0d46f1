import type { FileToFix, RunDetail } from '../../../../src/dashboard/api/runs.ts';
import type { NotJudged } from '../../../../src/domain/words/not-judged.ts';
import { filesToFix } from '../../api/runs.ts';
import { useLoad } from '../../api/use-load.ts';
import { Link } from '../../app/router.tsx';
import { formatFilterHash } from '../../review/filters/filter-link.ts';
import { NO_FILTER } from '../../review/place.ts';
import { Command, FilePath, UntrustedText } from '../../ui/untrusted-text.tsx';
import { count, formatCount } from '../../ui/format.ts';
import { Notice } from '../../ui/notice.tsx';

interface Props {
  readonly run: RunDetail;
  readonly causes: readonly NotJudged[];
}

/**
 * The causes of unjudged items, one line each with its fix. Below a cause, collapsed: its files without any verdict.
 */
export function ToFix({ run, causes }: Props) {
  const { value, error } = useLoad(run.run, (signal) => filesToFix(run.run, signal));
  return (
    <section class="card stack to-fix" aria-labelledby="to-fix">
      <h2 id="to-fix">What to fix</h2>
      {error !== null && <Notice tone="block" role="alert" title={error.message} />}
      <div>
        {causes.map((cause) => (
          <Cause
            key={`${cause.code} ${cause.reason}`}
            run={run.run}
            cause={cause}
            files={value?.listed.filter(({ code, reason }) => code === cause.code && reason === cause.reason)}
          />
        ))}
      </div>
      {run.command !== null && (
        <div>
          <p>To judge what failed for a passing reason again, type in a terminal:</p>
          <Command text={run.command} />
        </div>
      )}
    </section>
  );
}

interface CauseProps {
  readonly run: string;
  readonly cause: NotJudged;
  /** Undefined until loaded. */
  readonly files: readonly FileToFix[] | undefined;
}

function Cause({ run, cause: { code, items, brief, full }, files = [] }: CauseProps) {
  const filter = { ...NO_FILTER, errorCodes: [code] };
  return (
    <details class="cause">
      <summary>
        <b>{count(items)}</b> <span>{brief}</span>
      </summary>
      <p>
        <span class="code">{code}</span>: {full}.{' '}
        <Link to={{ page: 'run', run, tab: 'review' }} hash={formatFilterHash(filter, 'corpus')}>
          Show them in the list
        </Link>
      </p>
      <ul>
        {files.map((file) => (
          <File key={file.path} run={run} file={file} />
        ))}
      </ul>
    </details>
  );
}

function File({ run, file }: { readonly run: string; readonly file: FileToFix }) {
  const { path, items, seq, why, advice, columns, command } = file;
  return (
    <li>
      <Link to={{ page: 'item', run, seq }}>
        <FilePath text={path} />
      </Link>
      <p class="hint">
        {items > 1 && `${formatCount(items, 'item')}: `}
        <UntrustedText text={why} max={300} />
        {advice !== null && `. What to do: ${advice}`}
      </p>
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
