import type { ComponentChildren } from 'preact';
import type { Decision } from '../../../src/domain/outcome.ts';
import { Icon, type IconName } from './icon.tsx';

export type Tone = 'neutral' | 'accent' | 'allow' | 'review' | 'block' | 'unjudged';

interface Props {
  readonly tone?: Tone;
  readonly icon?: IconName;
  readonly children: ComponentChildren;
}

/** A word with an icon. */
export function Badge({ tone = 'neutral', icon, children }: Props) {
  return (
    <span class={`badge tone-${tone}`}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </span>
  );
}

/** The possible outcomes of an item; `unjudged` stands for an item error. */
export const ENDINGS = ['block', 'review', 'allow', 'unjudged'] as const;

export type Ending = (typeof ENDINGS)[number];

export const ENDING_WORDS: Readonly<Record<Ending, string>> = {
  allow: 'Allow',
  review: 'Review',
  block: 'Block',
  unjudged: 'Not judged',
};

/** A decision; null if the item was not judged. */
export function DecisionBadge({ decision }: { readonly decision: Decision | null }) {
  const ending = decision ?? 'unjudged';
  return (
    <Badge tone={ending} icon={ending}>
      {ENDING_WORDS[ending]}
    </Badge>
  );
}
