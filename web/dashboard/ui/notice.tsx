import type { ComponentChildren } from 'preact';
import type { Tone } from './badge.tsx';
import { Icon, type IconName } from './icon.tsx';

const ICONS: Readonly<Record<Tone, IconName>> = {
  neutral: 'info',
  accent: 'info',
  allow: 'allow',
  review: 'review',
  block: 'alert',
  unjudged: 'unjudged',
};

interface Props {
  readonly tone?: Tone;
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
  /** `alert` is read out at once. */
  readonly role?: 'alert' | 'status';
}

/** A message on the page. */
export function Notice({ tone = 'neutral', title, children, role }: Props) {
  return (
    <div class={`notice tone-${tone}`} role={role}>
      <Icon name={ICONS[tone]} />
      <div>
        <strong>{title}</strong>
        {children}
      </div>
    </div>
  );
}
