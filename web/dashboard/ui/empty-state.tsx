import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface Props {
  readonly icon: IconName;
  readonly title: string;
  /** Why there is nothing, and what to do. */
  readonly children?: ComponentChildren;
}

export function EmptyState({ icon, title, children }: Props) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}
