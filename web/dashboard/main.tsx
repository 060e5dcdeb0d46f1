import { render } from 'preact';
import { openSession } from './api/session.ts';
import { App } from './app/app.tsx';
import { followHistory } from './app/router.ts';
import { followKeys } from './app/shortcuts.ts';
import { followTheme } from './app/theme.ts';
import '../ui/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/controls.css';
import './styles/parts.css';
import './styles/runs.css';

followTheme();
followHistory();
followKeys();
render(<App />, document.getElementById('app')!);
void openSession();
