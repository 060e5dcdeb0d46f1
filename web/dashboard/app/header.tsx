import { effect, signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { reachable } from '../api/use-poll.ts';
import { logOut, session } from '../api/session.ts';
import { ApiError } from '../api/http.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { toast } from '../ui/toast.tsx';
import { KeyboardHelp } from './keyboard-help.tsx';
import { Link } from './router.tsx';
import { useShortcuts } from './shortcuts.ts';
import { loadPreference, savePreference } from './preferences.ts';

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

/** Shows whether the page is up to date. */
function ConnectionState() {
  return (
    <span class={`connection ${reachable.value ? 'is-live' : 'is-lost'}`} role="status">
      <Icon name={reachable.value ? 'live' : 'alert'} />
      {reachable.value ? 'Live' : 'Connection lost, trying again'}
    </span>
  );
}

const THEMES = ['system', 'light', 'dark'] as const;

/** The user's choice, stored in the browser. */
const theme = signal(THEMES.find((name) => name === loadPreference('theme')) ?? 'system');

/** Applies the chosen theme to the page, whenever it changes. */
export function followTheme(): void {
  effect(() => {
    savePreference('theme', theme.value);
    if (theme.value === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
  });
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
