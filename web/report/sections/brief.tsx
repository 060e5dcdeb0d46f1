import type { ComponentChildren, JSX } from 'preact';
import { notJudgedByCause } from '../../../src/domain/words/not-judged.ts';
import type { GroupRow, ReportData } from '../../../src/report/html/report-data.ts';
import { categoryLabel, formatCount, number, percent } from '../format.ts';
import { Name } from '../parts/name.tsx';

/** Categories, and causes of errors, that are named here; the sections below have all of them. */
const MOST_NAMED = 3;

/**
 * The first page, for a reader who reads no further. Each line answers one question; the sections below give the details.
 */
export function Brief({ data }: { readonly data: ReportData }): JSX.Element {
  return (
    <section id="brief" aria-labelledby="brief-title">
      <h2 id="brief-title">In brief</h2>
      <dl class="brief">
        <Answer to="Checked">{describeChecked(data)}</Answer>
        <Answer to="Found">
          <Found data={data} />
        </Answer>
        <Answer to="Not known">
          <NotKnown data={data} />
        </Answer>
        <Answer to="Reviewed">{describeReviewed(data)}</Answer>
        <Answer to="Next">
          <NextSteps data={data} />
        </Answer>
      </dl>
    </section>
  );
}

function Answer({
  to,
  children,
}: {
  readonly to: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div>
      <dt>{to}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function describeChecked({ summary, corpora, modalities, trial }: ReportData): string {
  const models = new Set(summary.guards.map(({ endpoint, fingerprint }) => fingerprint ?? endpoint)).size;
  const kinds = modalities.map(({ name, items }) => `${number(items)} ${name}`).join(', ');
  const of = modalities.length > 1 ? ` (${kinds})` : '';
  const from = corpora.length > 1 ? ` from ${sources(corpora)}` : '';
  const by = models > 0 ? `, by ${formatCount(models, 'model')}` : '';
  const part = trial === null ? '' : ' This was a trial: the corpus holds more.';
  return `${number(summary.verdicts)} of ${formatCount(summary.items, 'item')}${of}${from}${by}.${part}`;
}

/** The last row may stand for all the others. */
function sources(corpora: readonly GroupRow[]): string {
  const isCut = corpora.at(-1)?.name === null;
  return isCut ? `more than ${corpora.length - 1} sources` : formatCount(corpora.length, 'source');
}

function Found({ data: { summary, categories } }: { readonly data: ReportData }): JSX.Element {
  const { block, review } = summary.by_decision;
  const flagged = block + review;
  if (flagged === 0) return <>Nothing to block or to review.</>;
  const most = categories
    .filter(({ category, block: blocked, review: toReview }) => category !== null && blocked + toReview > 0)
    .sort((a, b) => b.block + b.review - a.block - a.review)
    .slice(0, MOST_NAMED);
  return (
    <>
      {number(block)} to block and {number(review)} to review, {percent(flagged, summary.verdicts)} of what
      was judged.
      {most.length > 0 && ' Most often: '}
      {most.map((row, index) => (
        <>
          {index > 0 && ', '}
          <Name text={categoryLabel(row.category ?? '')} /> ({number(row.block + row.review)})
        </>
      ))}
      {most.length > 0 && '.'}
      {summary.restricted > 0 &&
        ` ${formatCount(summary.restricted, 'item')} may show children in sexual contexts.`}
    </>
  );
}

function NotKnown({ data: { summary } }: { readonly data: ReportData }): JSX.Element {
  const { items, verdicts, partial, judged_as_whole: whole } = summary;
  const lines: string[] = [];
  if (items > verdicts) {
    lines.push(
      `${formatCount(items - verdicts, 'item has', 'items have')} no verdict (${percent(items - verdicts, items)})`,
    );
  }
  if (partial > 0) lines.push(`${formatCount(partial, 'item was', 'items were')} judged in part only`);
  if (whole.earlier_turns > 0) {
    const turns = formatCount(whole.earlier_turns, 'earlier turn', 'earlier turns');
    lines.push(`${turns} of conversations that were judged as a whole`);
  }
  const left = Object.values(summary.skipped).reduce((sum, count) => sum + count, 0);
  if (left > 0) lines.push(`${formatCount(left, 'file was', 'files were')} left out`);
  if (lines.length === 0) return <>Nothing: every item has a verdict.</>;
  return <>{lines.join('; ')}.</>;
}

/** The reviews. They change no other number in the report. */
function describeReviewed({ reviews, summary }: ReportData): string {
  const { flagged, reviewed: done, overturned } = reviews;
  const all = summary.by_decision.review + summary.by_decision.block;
  if (done === 0) return 'Nobody has reviewed these decisions yet.';
  const others = done > flagged ? ` and ${formatCount(done - flagged, 'other item')}` : '';
  const left = number(Math.max(0, all - flagged));
  return (
    `People have reviewed ${number(flagged)} of ${formatCount(all, 'flagged item')}${others}, and overturned ` +
    `${number(overturned)}. ${left} flagged are left. Reviews change no other number in this report.`
  );
}

function NextSteps({ data }: { readonly data: ReportData }): JSX.Element {
  const { summary, reviews, run, again } = data;
  const { block, review } = summary.by_decision;
  const steps: JSX.Element[] = [];
  const step = (what: string, command?: string): void => {
    steps.push(
      <li>
        {what}
        {command !== undefined && (
          <>
            : <code>{command}</code>
          </>
        )}
      </li>,
    );
  };
  if (summary.status === 'incomplete') step('Finish the run', `guardsweep resume ${run}`);
  if (summary.guards.some(({ kind }) => kind === 'embedded')) {
    step('Judge with a real guard before you rely on this: the embedded one is a demonstration');
  }
  const causes = notJudgedByCause(summary).sort((a, b) => b.items - a.items);
  const retryable = causes.reduce((sum, cause) => sum + (cause.retryable ? cause.items : 0), 0);
  if (summary.status === 'finished' && retryable > 0) {
    step(`Try ${formatCount(retryable, 'item')} again`, `guardsweep retry ${run}`);
  }
  for (const { items, full } of causes.filter((cause) => !cause.retryable).slice(0, MOST_NAMED)) {
    step(`${formatCount(items, 'item')} not judged: ${full}`);
  }
  if (again !== null) step('Judge more, with the other flags of this run', again);
  const open = block + review - reviews.flagged;
  if (open > 0) step(`Review ${formatCount(open, 'flagged item')}`, 'guardsweep serve');
  if (summary.restricted > 0)
    step('Handle the restricted items that restricted.csv lists as your law requires');
  return steps.length === 0 ? <>Nothing is left to do.</> : <ol>{steps}</ol>;
}
