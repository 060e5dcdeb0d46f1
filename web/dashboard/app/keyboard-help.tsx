import { Dialog } from '../ui/dialog.tsx';
import { shortcutGroups, shortcutsOn } from './shortcuts.ts';

const NAMES: Readonly<Record<string, string>> = {
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
  ' ': 'Space',
};

/** Lists the keys of the current page. */
export function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      {shortcutGroups.value.toReversed().map(({ title, shortcuts }) => (
        <section key={title} class="keys">
          <h3>{title}</h3>
          <dl>
            {shortcuts.map(({ keys, does }) => (
              <div key={does}>
                <dt>
                  {keys.map((key) => (
                    <kbd key={key}>{NAMES[key] ?? key}</kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <label class="check">
        <input
          type="checkbox"
          checked={shortcutsOn.value}
          onChange={({ currentTarget }) => {
            shortcutsOn.value = currentTarget.checked;
          }}
        />
        Single keys act. Turn this off if you dictate, or if they get in your way.
      </label>
    </Dialog>
  );
}
