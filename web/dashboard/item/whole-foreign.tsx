import { useState } from 'preact/hooks';
import { Button } from '../ui/button.tsx';
import { Foreign } from '../ui/foreign.tsx';
import { count } from '../ui/format.ts';

/** A foreign string, with a button for all of it where it is long. */
export function WholeForeign({ text, max = 200 }: { readonly text: string; readonly max?: number }) {
  const [whole, setWhole] = useState(false);
  return (
    <>
      <Foreign text={text} max={whole ? text.length : max} />
      {text.length > max && (
        <Button kind="quiet" class="whole" onClick={() => setWhole(!whole)}>
          {whole ? 'Show less' : `Show all ${count(text.length)} characters`}
        </Button>
      )}
    </>
  );
}
