import type { ComponentChildren, JSX } from 'preact';
import { wholeFilesInBrief } from '../../../src/domain/words/not-judged.ts';
import type { ReportData } from '../../../src/report/html/report-data.ts';
import { categoryLabel, formatCount, number, percent, time } from '../format.ts';
import { Name } from '../parts/name.tsx';
import { ShareBar } from '../parts/share-bar.tsx';

/** Maximum categories and guards to name here; the collapsed parts have all of them. */
const MOST_NAMED = 6;

const DEMONSTRATION = 'the embedded demonstration guard';

/** The first screen, for a reader who reads no further. Every percentage is of all items, so they add up to 100%. */
export function Brief({ data }: { readonly data: ReportData }): JSX.Element {
  const { summary } = data;
  const { items, by_decision: by } = summary;
  return (
    <section id="brief" aria-labelledby="brief-title">
      <h2 id="brief-title">In brief</h2>
      <div class="panels">
        <Judged data={data} />
        <NotJudged data={data} />
        <Categories data={data} />
      </div>
      <p class="sum">
        {formatCount(items, 'item')} = {number(by.block)} block + {number(by.review)} review +{' '}
        {number(by.allow)} allow + {number(items - summary.verdicts)} not judged. All shares are of these.
      </p>
      <dl class="brief">
        {summary.restricted > 0 && (
          <Answer to="Restricted">
            {formatCount(summary.restricted, 'item')} may show children in sexual contexts. This report does
            not name them; <code>restricted.csv</code> in the run directory says where they are. Handle them
            as your law requires.
          </Answer>
        )}
        {data.previous !== null && <Answer to="New">{describeNew(data.previous, data)}</Answer>}
        <Answer to="Guard">
          <Guard data={data} />
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

function Judged({ data: { summary, modalities } }: { readonly data: ReportData }): JSX.Element {
  const { items, verdicts, by_decision: by } = summary;
  const kinds = (['block', 'review', 'allow'] as const).map((kind) => ({ kind, count: by[kind] }));
  return (
    <div class="panel">
      <h3>Judged</h3>
      <p class="figure">
        {number(verdicts)} <small>of {formatCount(items, 'item')}</small>
      </p>
      <ShareBar whole={items} parts={[...kinds, { kind: 'unjudged', count: items - verdicts }]} />
      <dl class="counts">
        {kinds.map(({ kind, count }) => (
          <div class={kind}>
            <dt>{kind}</dt>
            <dd>
              {number(count)} <small>{percent(count, items)}</small>
            </dd>
          </div>
        ))}
      </dl>
      {modalities.length > 1 && (
        <p class="note">Items: {modalities.map((kind) => `${number(kind.items)} ${kind.name}`).join(', ')}</p>
      )}
    </div>
  );
}

function NotJudged({ data }: { readonly data: ReportData }): JSX.Element {
  const { items, verdicts } = data.summary;
  const unjudged = items - verdicts;
  return (
    <div class="panel">
      <h3>Not judged</h3>
      <p class="figure">
        {number(unjudged)} <small>{percent(unjudged, items)}</small>
      </p>
      <ul class="plain">
        {describeLimits(data).map((line) => (
          <li>{line}</li>
        ))}
      </ul>
    </div>
  );
}

/** Limits that the numbers do not show: partly judged items, and content without its own verdict. */
function describeLimits({ summary, trial }: ReportData): string[] {
  const lines: string[] = [];
  const { partial, judged_as_whole: whole, empty_sources: empty, skipped } = summary;
  const files = summary.whole_files_not_judged ?? 0;
  const open = summary.items - summary.verdicts - summary.errors;
  if (files > 0) lines.push(`among them ${wholeFilesInBrief(files)}`);
  if (open > 0) lines.push(`${formatCount(open, 'item has', 'items have')} no outcome yet`);
  if (partial > 0)
    lines.push(`${formatCount(partial, 'verdict is', 'verdicts are')} on a part of the item only`);
  if (whole.earlier_turns > 0) {
    lines.push(
      `${formatCount(whole.earlier_turns, 'earlier turn', 'earlier turns')} of ${formatCount(whole.conversations, 'conversation')} without a verdict of their own`,
    );
  }
  const left = Object.values(skipped).reduce((sum, count) => sum + count, 0);
  if (left > 0) lines.push(`${formatCount(left, 'file was', 'files were')} left out`);
  if (empty.count > 0) lines.push(`${formatCount(empty.count, 'file holds', 'files hold')} no items`);
  const unselected = summary.trial?.records_not_selected ?? null;
  if (unselected !== null)
    lines.push(`${formatCount(unselected, 'record is', 'records are')} not in the trial`);
  else if (trial !== null) lines.push('the records that are not in the trial were not counted');
  if (lines.length === 0) lines.push('nothing was left out');
  return lines;
}

function Categories({ data: { categories } }: { readonly data: ReportData }): JSX.Element {
  const flagged = categories
    .map(({ category, block, review }) => ({ category, items: block + review }))
    .filter(({ items }) => items > 0)
    .sort((a, b) => b.items - a.items);
  const more = flagged.length - MOST_NAMED;
  return (
    <div class="panel">
      <h3>Block or review, by main category</h3>
      {flagged.length === 0 && <p>Nothing to block or to review.</p>}
      <dl class="list">
        {flagged.slice(0, MOST_NAMED).map(({ category, items }) => (
          <div>
            <dt>{category === null ? 'No category' : <Name text={categoryLabel(category)} />}</dt>
            <dd>{number(items)}</dd>
          </div>
        ))}
      </dl>
      {more > 0 && (
        <p class="note">
          and <a href="#categories">{formatCount(more, 'more category', 'more categories')}</a>
        </p>
      )}
    </div>
  );
}

function describeNew(
  { createdAt, changes, isChosen }: NonNullable<ReportData['previous']>,
  { summary, reviews: { fresh } }: ReportData,
): string {
  const since = `Since the run of ${time(createdAt)}`;
  const flagged =
    fresh === null || isChosen
      ? ''
      : ` Of the flagged items, ${number(fresh)} are new and ${number(summary.flagged - fresh)} were seen before.`;
  if (changes === null) return `${since}: not compared item by item, since a run is too large.${flagged}`;
  const changed = changes.decisions.map(
    ({ before, now, items }) => `${number(items)} from ${before} to ${now}`,
  );
  return (
    `${since}: ${formatCount(changes.onlyNow, 'item is', 'items are')} new, ` +
    `${number(changes.onlyBefore)} gone, ${changed.length === 0 ? 'no decision changed' : changed.join(', ')}.${flagged}`
  );
}

function Guard({ data: { guards } }: { readonly data: ReportData }): JSX.Element {
  if (guards.length === 0) return <>No guard judged anything.</>;
  const named = [
    ...new Set(guards.map(({ kind, endpoint }) => (kind === 'embedded' ? DEMONSTRATION : endpoint))),
  ];
  const more = named.length - MOST_NAMED;
  return (
    <>
      Judged by{' '}
      {named.slice(0, MOST_NAMED).map((endpoint, index) => (
        <>
          {index > 0 && ', '}
          <Name text={endpoint} />
        </>
      ))}
      {more > 0 && ` and ${number(more)} more`}. A guard estimates: it misses some harmful content, and flags
      some that is harmless.
    </>
  );
}

/** The reviews. They change no other number in the report. */
function describeReviewed({ reviews, summary }: ReportData): string {
  const { flagged, reviewed: done, overturned, reopened } = reviews;
  const all = summary.by_decision.review + summary.by_decision.block;
  if (done + reopened === 0) return 'Nobody has reviewed these decisions yet.';
  const others = done > flagged ? ` and ${formatCount(done - flagged, 'other item')}` : '';
  const left = number(Math.max(0, all - flagged));
  return (
    `People have reviewed ${number(flagged)} of ${formatCount(all, 'flagged item')}${others}, and overturned ` +
    `${number(overturned)}. ${left} flagged are left${reopened > 0 ? `, ${number(reopened)} of them reopened: judged more severely than when they were reviewed` : ''}. Reviews change no other number in this report.`
  );
}

function NextSteps({ data }: { readonly data: ReportData }): JSX.Element {
  const { summary, reviews, commands, notJudged } = data;
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
  if (summary.status === 'incomplete') step('Finish the run', commands.resume);
  if (summary.guards.some(({ kind }) => kind === 'embedded')) {
    step('Judge with a real guard before you rely on this: the embedded one is a demonstration');
  }
  const open = block + review - reviews.flagged;
  if (open > 0) step(`Review ${formatCount(open, 'flagged item')}`, commands.serve);
  const retryable = notJudged.reduce((sum, cause) => sum + (cause.retryable ? cause.items : 0), 0);
  if (summary.status === 'finished' && retryable > 0)
    step(`Try ${formatCount(retryable, 'item')} again`, commands.retry);
  if (commands.again !== null) step('Judge more, with the other flags of this run', commands.again);
  return steps.length === 0 ? <>Nothing is left to do.</> : <ol>{steps}</ol>;
}
