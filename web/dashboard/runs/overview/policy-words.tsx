import type { Policy, Thresholds } from '../../../../src/domain/policy.ts';
import { CATEGORIES } from '../../../../src/domain/taxonomy.ts';

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
