import type { JSX } from 'preact';
import type { ReportData } from '../../../src/report/html/report-data.ts';
import { formatCount, number, percent } from '../format.ts';
import { Name } from '../parts/name.tsx';
import { Section } from '../parts/section.tsx';
import { ShareBar } from '../parts/share-bar.tsx';

/** How many items were judged and how, and, just as large, how many were not and why; the two add up to the items. */
export function Outcome({ data }: { readonly data: ReportData }): JSX.Element {
  const { summary } = data;
  const { items, verdicts, errors, by_decision: by } = summary;
  const unjudged = items - verdicts;
  const open = unjudged - errors;
  return (
    <Section id="outcome" title="Outcome">
      <div class="halves">
        <div class="panel">
          <h3>Judged</h3>
          <p class="figure">
            {number(verdicts)} <small>of {number(items)} items</small>
          </p>
          <ShareBar
            whole={items}
            parts={[
              { kind: 'block', count: by.block },
              { kind: 'review', count: by.review },
              { kind: 'allow', count: by.allow },
              { kind: 'unjudged', count: unjudged },
            ]}
          />
          <Counts
            rows={[
              ['block', 'Block', by.block, percent(by.block, verdicts)],
              ['review', 'Review', by.review, percent(by.review, verdicts)],
              ['allow', 'Allow', by.allow, percent(by.allow, verdicts)],
            ]}
          />
        </div>
        <div class="panel">
          <h3>Not judged</h3>
          <p class="figure">
            {number(unjudged)} <small>of {number(items)} items</small>
          </p>
          <ShareBar whole={items} parts={[{ kind: 'unjudged', count: unjudged }]} />
          <Counts
            rows={[
              ['unjudged', 'Errors', errors, percent(errors, items)],
              ...(open > 0 ? [['unjudged', 'No outcome yet', open, percent(open, items)] as const] : []),
            ]}
          />
          <ul class="plain">
            {describeLimits(data).map((line) => (
              <li>{line}</li>
            ))}
          </ul>
        </div>
      </div>
      <p class="sum">
        {formatCount(items, 'item')} = {number(by.block)} block + {number(by.review)} review +{' '}
        {number(by.allow)} allow + {number(errors)} errors
        {open > 0 && ` + ${number(open)} without an outcome`}
      </p>
      <LeftOut data={data} />
    </Section>
  );
}

type CountRow = readonly [kind: string, name: string, count: number, share: string];

function Counts({ rows }: { readonly rows: readonly CountRow[] }): JSX.Element {
  return (
    <dl class="counts">
      {rows.map(([kind, name, count, share]) => (
        <div class={kind}>
          <dt>{name}</dt>
          <dd>
            {number(count)} <small>{share}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Limits that the numbers above do not show: partly judged items, and content without a verdict of its own. */
function describeLimits({ summary, trial }: ReportData): string[] {
  const lines: string[] = [];
  const { partial, judged_as_whole: whole, empty_sources: empty, skipped } = summary;
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

/** Files without items, and files that were skipped, by reason. */
function LeftOut({ data: { summary } }: { readonly data: ReportData }): JSX.Element | null {
  const skipped = Object.entries(summary.skipped).slice(0, 20);
  const { count, paths } = summary.empty_sources;
  if (skipped.length === 0 && count === 0) return null;
  return (
    <dl class="rows">
      {skipped.length > 0 && (
        <div>
          <dt>Files left out</dt>
          <dd>{list(skipped)}</dd>
        </div>
      )}
      {count > 0 && (
        <div>
          <dt>Files without items</dt>
          <dd>
            {paths.map((path) => (
              <>
                <Name text={path} />{' '}
              </>
            ))}
            {count > paths.length && `and ${number(count - paths.length)} more`}
          </dd>
        </div>
      )}
    </dl>
  );
}

function list(entries: readonly (readonly [string, number])[]): JSX.Element {
  return (
    <>
      {entries.map(([name, count], index) => (
        <>
          {index > 0 && ', '}
          <Name text={name} /> ({number(count)})
        </>
      ))}
    </>
  );
}
