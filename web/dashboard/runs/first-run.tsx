import type { ComponentChildren } from 'preact';
import { session } from '../api/session.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Foreign } from '../ui/foreign.tsx';

/** Before the first run: what to do. */
export function FirstRun({ startButton }: { readonly startButton: ComponentChildren }) {
  const current = session.value;
  const roots = current.state === 'open' ? current.session.roots : [];
  return (
    <EmptyState icon="shield" title="No run yet">
      <p>
        A run judges everything in the files and folders that you name, and keeps a verdict on each item.
        Tables, chats, texts, images and audio are recognised.
      </p>
      {startButton}
      {roots.length > 0 && (
        <p class="small">
          Files are read below <Roots roots={roots} />. Or in a terminal:{' '}
          <code>guardsweep enqueue ./uploads</code>
        </p>
      )}
    </EmptyState>
  );
}

export function Roots({ roots }: { readonly roots: readonly string[] }) {
  return (
    <>
      {roots.map((root, index) => (
        <span key={root}>
          {index > 0 && ', '}
          <Foreign code text={root} max={100} />
        </span>
      ))}
    </>
  );
}
