import type { DiffResult, RunDetail } from '../../../src/dashboard/api/runs.ts';
import { shown } from '../../../src/domain/text/shown.ts';
import { liveRuns } from '../api/events.ts';
import { comparison } from '../api/runs.ts';
import { useLoad } from '../api/use-load.ts';
import { Link } from '../app/link.tsx';
import { navigate } from '../app/router.ts';
import { Field } from '../ui/field.tsx';
import { Foreign } from '../ui/foreign.tsx';
import { count, counted, localTime } from '../ui/format.ts';
import { Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { CategoryMoves } from './category-moves.tsx';
import { DifferentItems } from './different-items.tsx';
import { ResultMatrix } from './result-matrix.tsx';

interface Props {
  readonly run: RunDetail;
  /** Name of the run directory that it is compared with; undefined: none is chosen. */
  readonly before: string | undefined;
}

/** What a finished run found otherwise than another one did on the same contents. */
export function ComparePage({ run, before }: Props) {
  if (run.state !== 'finished') return <Notice title="A run can be compared once it is finished." />;
  return (
    <div class="stack compare-page">
      <ChooseRun run={run} before={before} />
      {before !== undefined && <Compared run={run.run} before={before} />}
    </div>
  );
}

function ChooseRun({ run, before }: Props) {
  const others = (liveRuns.value ?? []).filter(
    ({ run: name, state }) => name !== run.run && state === 'finished',
  );
  if (others.length === 0 && liveRuns.value !== null) {
    return <Notice title="There is no other finished run to compare with." />;
  }
  return (
    <Field
      label="Compare with another run"
      hint={'Items are paired by content: files may have moved. "Before" is the run that you choose.'}
      control={(attributes) => (
        <select
          {...attributes}
          onChange={({ currentTarget: { value } }) =>
            navigate({ page: 'run', run: run.run, tab: 'compare', ...(value !== '' && { before: value }) })
          }
        >
          <option value="">Choose a run</option>
          {before !== undefined && !others.some(({ run: other }) => other === before) && (
            <option value={before} selected>
              {shown(before, 60)}
            </option>
          )}
          {others.map(({ run: other, name, created_at: at }) => (
            <option key={other} value={other} selected={other === before}>
              {at === null ? '' : `${localTime(at)} · `}
              {shown(name, 60)}
            </option>
          ))}
        </select>
      )}
    />
  );
}

function Compared({ run, before }: { readonly run: string; readonly before: string }) {
  const { value, error } = useLoad(`${run} ${before}`, (signal) => comparison(run, before, signal));
  if (error !== null) return <Notice tone="block" role="alert" title={error.message} />;
  if (value === null) return <Skeleton lines={6} />;
  if (value.pairs === 0) return <Notice title="The two runs have no content in common." />;
  return (
    <>
      <Figures before={before} result={value} />
      <div class="halves">
        <ResultMatrix results={value.results} />
        <CategoryMoves moved={value.category_moved} />
      </div>
      <DifferentItems
        title="Items with another result"
        run={run}
        before={before}
        pairs={value.first_differences}
      />
      <DifferentItems title="Largest changes of score" run={run} before={before} pairs={value.top_shifts} />
    </>
  );
}

/** The outcome in one look, for both runs side by side. */
function Figures({ before, result }: { readonly before: string; readonly result: DiffResult }) {
  const { a, b, pairs, newly_flagged, cleared, errors, score_shift } = result;
  const figures = [
    ['Newly flagged', count(newly_flagged)],
    ['No longer flagged', count(cleared)],
    ['Judged now, an error before', count(errors.error_to_verdict)],
    ['An error now, judged before', count(errors.verdict_to_error)],
    ['Mean change of score', score_shift.mean === null ? '–' : signedScore(score_shift.mean)],
  ] as const;
  return (
    <section class="card stack" aria-labelledby="compared">
      <h2 id="compared">Compared</h2>
      <p role="status">
        {counted(pairs, 'item')} {pairs === 1 ? 'has' : 'have'} the same content in both runs. Only in{' '}
        <Link to={{ page: 'run', run: before, tab: 'overview' }}>
          <Foreign text={a.run} max={60} />
        </Link>
        : {count(a.only_here)}. Only in this run: {count(b.only_here)}.
        {a.without_content + b.without_content > 0 &&
          ` Without content, so not compared: ${count(a.without_content)} before, ${count(b.without_content)} now.`}
      </p>
      <dl class="figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** `+0.123`, `−0.040`. */
const signedScore = (shift: number): string => `${shift < 0 ? '−' : '+'}${Math.abs(shift).toFixed(3)}`;
