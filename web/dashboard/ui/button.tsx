import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface Props extends ButtonHTMLAttributes {
  /** `primary`: the main action; `danger`: cannot be undone; `quiet`: without a frame. */
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly icon?: IconName;
  /** Whether the action is running: the button waits, and announces it to screen readers. */
  readonly busy?: boolean;
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
}

export function Button({
  kind = 'plain',
  icon,
  busy = false,
  type = 'button',
  disabled,
  children,
  ...rest
}: Props) {
  return (
    <button
      {...rest}
      type={type}
      class={`button button-${kind} ${typeof rest.class === 'string' ? rest.class : ''}`}
      disabled={disabled === true || busy}
      aria-busy={busy}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}
