import { signal } from '@preact/signals';
import { render } from 'preact';
import '../ui/tokens.css';
import { DECISIONS } from '../../src/domain/outcome.ts';
import type { Session } from '../../src/dashboard/api/runs.ts';

const session = signal<Session | null>(null);
const App = () => (
  <main>
    {session.value?.version} {DECISIONS.join()}
  </main>
);
render(<App />, document.getElementById('app')!);
