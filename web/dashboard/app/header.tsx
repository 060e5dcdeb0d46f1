import { useState } from 'preact/hooks';
import { connection, type Connection } from '../api/events.ts';
import { logOut, session } from '../api/session.ts';
import { ApiError } from '../api/http.ts';
import { Button } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { toast } from '../ui/toast.tsx';
import { KeyboardHelp } from './keyboard-help.tsx';
import { Link } from './link.tsx';
import { useShortcuts } from './shortcuts.ts';
import { theme, THEMES } from './theme.ts';

export function Header() {
  const [help, setHelp] = useState(false);
  useShortcuts('Everywhere', [{ keys: ['?'], does: 'Show the keys of this page', run: () => setHelp(true) }]);
  const open = session.value.state === 'open';
  return (
    <header class="header">
      <Link class="brand" to={{ page: 'runs' }}>
        <Icon name="shield" />
        guardsweep
      </Link>
      <div class="header-tools">
        {open && <ConnectionState />}
        <ThemeButton />
        <Button kind="quiet" class="button-small keys-button" onClick={() => setHelp(true)}>
          <kbd aria-hidden="true">?</kbd>
          Keys
        </Button>
        {open && (
          <Button kind="quiet" class="button-small" onClick={() => void leave()}>
            Log out
          </Button>
        )}
      </div>
      {help && <KeyboardHelp onClose={() => setHelp(false)} />}
    </header>
  );
}

const CONNECTIONS: Readonly<Record<Connection, { readonly icon: IconName; readonly words: string }>> = {
  closed: { icon: 'paused', words: 'Not live' },
  connecting: { icon: 'reload', words: 'Connecting' },
  live: { icon: 'live', words: 'Live' },
  lost: { icon: 'alert', words: 'Connection lost, trying again' },
};

/** Whether what the page shows is what is. */
function ConnectionState() {
  const { icon, words } = CONNECTIONS[connection.value];
  return (
    <span class={`connection is-${connection.value}`} role="status">
      <Icon name={icon} />
      {words}
    </span>
  );
}

const THEME_WORDS = { system: 'System', light: 'Light', dark: 'Dark' } as const;

function ThemeButton() {
  const now = theme.value;
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length] ?? 'system';
  return (
    <Button
      kind="quiet"
      class="button-small"
      icon={now}
      onClick={() => {
        theme.value = next;
      }}
      title={`Colours: ${THEME_WORDS[now]}. Change to ${THEME_WORDS[next]}`}
    >
      <span>
        <span class="wide-only">Colours: </span>
        {THEME_WORDS[now]}
      </span>
    </Button>
  );
}

async function leave(): Promise<void> {
  try {
    await logOut();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast(error.message, 'block');
  }
}
