import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface Props extends ButtonHTMLAttributes {
  /** `primary`: the one thing to do here; `danger`: cannot be taken back; `quiet`: without a frame. */
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly icon?: IconName;
  /** Being done: the button waits, and says so to screen readers. */
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
