import type { RunDetail } from '../../../../src/dashboard/api/runs.ts';
import type { Policy, Thresholds } from '../../../../src/domain/policy.ts';
import { CATEGORIES } from '../../../../src/domain/taxonomy.ts';
import { escapeText } from '../../../../src/domain/text/escape-text.ts';
import { Fact, Facts } from '../../ui/facts.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { formatCount, duration, localTime } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';

/** Maximum sources and guards to list; the report has all. */
const MAX_LISTED = 10;
const MAX_PATH = 160;
const MAX_REASON = 300;

/** The run's input, the guards that judged, and the hashes that identify the record. */
export function RunFacts({ run }: { readonly run: RunDetail }) {
  const { summary, content, guards, seconds } = run;
  return (
    <Facts title="Run and record" open={summary === null}>
      <Fact name="Started">
        {run.created_at === null ? (
          'not known'
        ) : (
          <time dateTime={run.created_at}>{localTime(run.created_at)}</time>
        )}
        {seconds !== null && `, took ${duration(seconds)}`}
        {run.pass > 1 && `, in ${run.pass} passes`}
      </Fact>
      <Fact name="Sources">
        <List values={run.sources} />
      </Fact>
      <Fact name="Judged by">
        {guards.length === 0 ? 'the workers of a fleet' : <List values={guards} />}
      </Fact>
      <Fact name="Policy">
        <PolicyWords policy={run.policy} />
      </Fact>
      <Fact name="Content">
        {content.readable ? (
          'is read back from its source when you ask for it'
        ) : (
          <span class="with-icon">
            <Icon name="lock" />
            is not shown: {escapeText(content.reason ?? 'not readable', MAX_REASON)}
          </span>
        )}
      </Fact>
      <Fact name="Directory">
        <UntrustedText code text={run.dir} max={MAX_PATH} />
      </Fact>
      {summary !== null && (
        <Fact name="Chain head">
          <UntrustedText code text={summary.chain_head} max={MAX_PATH} />
          <p class="small muted">
            Note it elsewhere: <code>guardsweep verify</code> compares the record with it (<code>--head</code>
            ).
          </p>
        </Fact>
      )}
    </Facts>
  );
}

function List({ values }: { readonly values: readonly string[] }) {
  return (
    <ul>
      {values.slice(0, MAX_LISTED).map((value) => (
        <li key={value}>
          <UntrustedText code text={value} max={MAX_PATH} />
        </li>
      ))}
      {values.length > MAX_LISTED && (
        <li class="muted">and {formatCount(values.length - MAX_LISTED, 'other')}</li>
      )}
    </ul>
  );
}

/** A policy in words. */
export function PolicyWords({ policy }: { readonly policy: Policy }) {
  const { thresholds, allowFlagged, allowPartial } = policy;
  return (
    <ul>
      {thresholds === null ? (
        <li>none: what the guard flags is blocked</li>
      ) : (
        <>
          {thresholds.default !== undefined && <li>Every score: {thresholdWords(thresholds.default)}</li>}
          {CATEGORIES.map(({ key, label }) => {
            const own = thresholds[key];
            return (
              own !== undefined && (
                <li key={key}>
                  {label}: {thresholdWords(own)}
                </li>
              )
            );
          })}
        </>
      )}
      {allowFlagged && <li>A flag of the guard alone does not raise a decision.</li>}
      {allowPartial && <li>Items that were judged in part may be allowed.</li>}
    </ul>
  );
}

function thresholdWords({ review, block }: Thresholds): string {
  const parts = [
    review === undefined ? null : `review from ${review}`,
    block === undefined ? null : `block from ${block}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? 'no threshold' : parts.join(', ');
}
