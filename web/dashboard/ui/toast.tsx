import { signal } from '@preact/signals';
import { Button } from './button.tsx';
import type { Tone } from './badge.tsx';
import { Icon } from './icon.tsx';

interface Toast {
  readonly id: number;
  readonly message: string;
  readonly tone: Extract<Tone, 'neutral' | 'allow' | 'block'>;
}

/** Long enough to read a sentence; a failure stays until it is dismissed. */
const SHOWN_MS = 8000;
const MAX_TOASTS = 4;

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

const dismiss = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

/** Shows a transient message, which screen readers announce. `block` means failure. */
export function toast(message: string, tone: Toast['tone'] = 'neutral'): void {
  const id = ++lastId;
  toasts.value = [...toasts.value, { id, message, tone }].slice(-MAX_TOASTS);
  if (tone !== 'block') setTimeout(dismiss, SHOWN_MS, id);
}

/** The region for toasts. It exists from the start: screen readers announce only additions to an existing region. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, message, tone }) => (
        <div key={id} class={`toast tone-${tone}`}>
          <Icon name={tone === 'block' ? 'alert' : tone === 'allow' ? 'check' : 'info'} />
          <span>{message}</span>
          <Button kind="quiet" icon="close" onClick={() => dismiss(id)}>
            <span class="hidden">Dismiss</span>
          </Button>
        </div>
      ))}
    </div>
  );
}
