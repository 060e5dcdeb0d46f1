import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** The attributes that connect a control to its label, hint and error. */
export interface FieldAttributes {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': boolean;
}

interface Props {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | null;
  readonly control: (attributes: FieldAttributes) => JSX.Element;
}

/** A form control with its label. */
export function Field({ label, hint, error = null, control }: Props) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {control({ id, 'aria-describedby': `${id}-hint ${id}-error`, 'aria-invalid': error !== null })}
      <div id={`${id}-hint`} class="field-hint">
        {hint}
      </div>
      <div id={`${id}-error`} class="field-error" role="alert">
        {error !== null && (
          <>
            <Icon name="alert" />
            {error}
          </>
        )}
      </div>
    </div>
  );
}
