import { useState } from 'preact/hooks';
import type { RunAction, RunRow } from '../../../src/dashboard/api/runs.ts';
import { escapeText } from '../../../src/domain/text/escape-text.ts';
import { ApiError } from '../api/http.ts';
import { actOnRun } from '../api/runs.ts';
import { session } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import type { IconName } from '../ui/icon.tsx';
import { toast } from '../ui/toast.tsx';

interface Words {
  readonly label: string;
  readonly icon: IconName;
  /** Shown once the server has accepted the request. */
  readonly done: string;
}

const ACTIONS: Readonly<Record<RunAction, Words>> = {
  pause: { label: 'Pause', icon: 'paused', done: 'Pausing. What is being judged is finished first.' },
  continue: { label: 'Continue', icon: 'running', done: 'Continuing.' },
  cancel: { label: 'Cancel', icon: 'cancelled', done: 'Cancelling.' },
};

/** The actions that a run's state allows. Canceling asks for confirmation. */
export function RunActions({ run }: { readonly run: Pick<RunRow, 'run' | 'name' | 'actions'> }) {
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState<RunAction | null>(null);
  const current = session.value;
  if (current.state !== 'open' || !current.session.may_control || run.actions.length === 0) return null;

  const act = async (action: RunAction): Promise<void> => {
    setBusy(action);
    setAsking(false);
    try {
      await actOnRun(run.run, action);
      toast(ACTIONS[action].done);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast(`${ACTIONS[action].label}: ${error.message}`, 'block');
    }
    setBusy(null);
  };

  return (
    <div class="run-actions" role="group" aria-label={`Actions on ${escapeText(run.name, 80)}`}>
      {run.actions.map((action) => (
        <Button
          key={action}
          class="button-small"
          icon={ACTIONS[action].icon}
          busy={busy === action}
          disabled={busy !== null}
          onClick={() => (action === 'cancel' ? setAsking(true) : void act(action))}
        >
          {ACTIONS[action].label}
        </Button>
      ))}
      {asking && (
        <CancelDialog run={run} onClose={() => setAsking(false)} onConfirm={() => void act('cancel')} />
      )}
    </div>
  );
}

interface CancelProps {
  readonly run: Pick<RunRow, 'name'>;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}

function CancelDialog({ run, onClose, onConfirm }: CancelProps) {
  return (
    <Dialog
      title={`Cancel ${escapeText(run.name, 60)}?`}
      onClose={onClose}
      footer={
        <>
          <Button autofocus onClick={onClose}>
            Keep it
          </Button>
          <Button kind="danger" icon="cancelled" onClick={onConfirm}>
            Cancel the run
          </Button>
        </>
      }
    >
      <p>
        What was judged so far stays in the run directory. The rest is not judged unless the run is resumed.
        To stop for a while, pause it instead.
      </p>
    </Dialog>
  );
}
