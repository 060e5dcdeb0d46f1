import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

interface Props {
  readonly title: string;
  /** Also called on Escape. */
  readonly onClose: () => void;
  /** Buttons of the dialog, the confirming one last. */
  readonly footer?: ComponentChildren;
  readonly children: ComponentChildren;
}

/**
 * A modal dialog, open as long as it is rendered. The browser keeps the focus inside, and restores it afterwards. An
 * element with `autofocus` inside gets it first.
 */
export function Dialog({ title, onClose, footer, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" icon="close" onClick={onClose}>
          <span class="hidden">Close</span>
        </Button>
      </div>
      <div class="dialog-body">{children}</div>
      {footer !== undefined && <div class="dialog-foot">{footer}</div>}
    </dialog>
  );
}
