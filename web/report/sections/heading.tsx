import type { JSX } from 'preact';
import type { ReportData } from '../../../src/report/html/report-data.ts';
import { duration, number, time } from '../format.ts';
import { Name } from '../parts/name.tsx';

/** The subject of the report, and the warnings that a reader needs first. */
export function Heading({ data }: { readonly data: ReportData }): JSX.Element {
  const { summary, name, run, createdAt, finishedAt } = data;
  return (
    <header>
      <h1>Moderation report</h1>
      <p class="lead">
        <Name text={name} />
      </p>
      <dl class="facts">
        <Fact term="Run">
          <Name text={run} />
        </Fact>
        <Fact term="Status">{summary.status === 'finished' ? 'Finished' : 'Not finished'}</Fact>
        <Fact term="Created">{time(createdAt)}</Fact>
        <Fact term="Finished">{time(finishedAt)}</Fact>
        {summary.seconds > 0 && <Fact term="Time">{duration(summary.seconds)}</Fact>}
        {summary.pass > 1 && <Fact term="Pass">{number(summary.pass)}</Fact>}
      </dl>
      <Notices data={data} />
    </header>
  );
}

function Fact({
  term,
  children,
}: {
  readonly term: string;
  readonly children: JSX.Element | string;
}): JSX.Element {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** A trial comes first: its numbers are not those of the corpus. */
function Notices({ data }: { readonly data: ReportData }): JSX.Element | null {
  const { summary, trial, gates } = data;
  const models = new Set(summary.guards.map(({ fingerprint }) => fingerprint));
  const known = [...models].filter((model) => model !== null).length;
  const notices: string[] = [];
  if (trial !== null) notices.push(trial);
  if (summary.status === 'incomplete') {
    notices.push('INCOMPLETE: the run is not finished. Items without a verdict must not be taken for clean.');
  }
  if (summary.status === 'finished' && summary.items === 0)
    notices.push('EMPTY: there were no items to judge.');
  for (const { text, tripped } of gates) if (tripped) notices.push(`GATE: ${text}`);
  if (known > 1) notices.push(`ATTENTION: ${number(known)} different models judged in this run.`);
  if (known > 0 && models.has(null))
    notices.push('ATTENTION: some verdicts do not name the model that judged.');
  if (summary.guards.some(({ kind }) => kind === 'embedded')) {
    notices.push('DEMONSTRATION GUARD: "allow" is not evidence that content is harmless.');
  }
  if (notices.length === 0) return null;
  return (
    <ul class="notices">
      {notices.map((notice) => (
        <li>{notice}</li>
      ))}
    </ul>
  );
}
