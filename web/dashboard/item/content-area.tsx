import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ItemContent, ItemDetail } from '../../../src/dashboard/api/items.ts';
import type { RunDetail } from '../../../src/dashboard/api/runs.ts';
import { useShortcuts } from '../app/shortcuts.ts';
import { apiErrorMessage } from '../review/review-api.ts';
import { Button } from '../ui/button.tsx';
import { UntrustedText, WholeUntrustedText } from '../ui/untrusted-text.tsx';
import { localTime } from '../ui/format.ts';
import { Shown } from './content.tsx';
import { Restricted } from './restricted.tsx';
import { lookAtContent, maskTexts, noteLook, showTexts } from './reveals.ts';

/** Delay before content is shown and logged, so moving on earlier does neither. */
const SETTLE_MS = 250;

/**
 * hidden ── asked for ──► reading ──► shown
 *   ▲                        │
 *   └────── hide ◄───────────┴─► failed
 */
type State =
  | { readonly kind: 'hidden' }
  | { readonly kind: 'reading' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'shown'; readonly content: ItemContent };

interface ContentAreaProps {
  readonly run: RunDetail;
  readonly detail: ItemDetail;
}

/** The content of an item, read from its source on request. Must have the seq as its key. */
export function ContentArea({ run, detail }: ContentAreaProps) {
  const { line, restricted } = detail;
  const state = useSignal<State>({ kind: 'hidden' });
  const reading = useRef<AbortController | null>(null);

  const show = async (): Promise<void> => {
    if (restricted || !run.content.readable || state.value.kind === 'reading') return;
    const controller = new AbortController();
    reading.current = controller;
    state.value = { kind: 'reading' };
    try {
      const content = await lookAtContent(run.run, line.seq, controller.signal);
      state.value = { kind: 'shown', content };
    } catch (error) {
      if (controller.signal.aborted) return;
      noteLook(run.run, line.seq, false);
      state.value = { kind: 'failed', message: apiErrorMessage(error) };
    }
  };
  const hide = (): void => {
    reading.current?.abort();
    state.value = { kind: 'hidden' };
  };
  const toggle = (): void => {
    if (state.value.kind === 'hidden' || state.value.kind === 'failed') void show();
    else hide();
  };
  useShortcuts('Content', [
    { keys: ['s'], does: 'Show the content, which is logged, or hide it', run: toggle },
    { keys: ['m'], does: 'Mask texts, or unmask them', run: () => maskTexts.set(!maskTexts.value.value) },
  ]);

  const byItself = showTexts.value.value && line.modality === 'text';
  useEffect(() => {
    if (!byItself || state.value.kind !== 'hidden') return;
    const timer = setTimeout(() => void show(), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [byItself]);
  useEffect(() => () => reading.current?.abort(), []);

  return (
    <section class="content-area" aria-labelledby="content-title">
      <header>
        <h3 id="content-title">Content</h3>
        {state.value.kind === 'shown' && (
          <Button onClick={hide}>
            Hide <kbd>s</kbd>
          </Button>
        )}
      </header>
      {detail.released !== null && (
        <p class="hint">
          Released by <UntrustedText text={detail.released.by} max={60} />,{' '}
          <time dateTime={detail.released.at}>{localTime(detail.released.at)}</time>:{' '}
          <WholeUntrustedText text={detail.released.note} />
        </p>
      )}
      {restricted ? (
        <Restricted run={run.run} detail={detail} />
      ) : run.content.readable ? (
        <Asked state={state.value} show={() => void show()} run={run} detail={detail} />
      ) : (
        <p class="unavailable">{run.content.reason ?? 'The content of this run cannot be read here.'}</p>
      )}
    </section>
  );
}

interface AskedProps extends ContentAreaProps {
  readonly state: State;
  readonly show: () => void;
}

function Asked({ state, show, run, detail }: AskedProps) {
  if (state.kind === 'shown') return <Shown run={run.run} detail={detail} content={state.content} />;
  return (
    <div class="concealed">
      {state.kind === 'failed' && <p role="alert">It could not be read: {state.message}</p>}
      <Button onClick={show} disabled={state.kind === 'reading'}>
        {state.kind === 'reading' ? 'Reading …' : 'Show content'} <kbd>s</kbd>
      </Button>
      <p class="hint">
        It is read from its source now, and kept nowhere. The log of the run records who viewed it, and when.
      </p>
    </div>
  );
}
