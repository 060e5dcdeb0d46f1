import { signal, type ReadonlySignal } from '@preact/signals';
import type { LoggedIn, Session } from '../../../src/dashboard/api/runs.ts';
import { loadPreference, savePreference } from '../app/preferences.ts';
import { ApiError, onLoggedOut, request, requestJson, setPageKey } from './http.ts';

/** `unknown` until the server was asked. */
export type SessionState =
  | { readonly state: 'unknown' }
  | { readonly state: 'failed'; readonly error: ApiError }
  | { readonly state: 'logged-out' }
  | { readonly state: 'open'; readonly session: Session };

const current = signal<SessionState>({ state: 'unknown' });

export const session: ReadonlySignal<SessionState> = current;

onLoggedOut(() => {
  current.value = { state: 'logged-out' };
});

/** Removes a token from the address bar, `#token=…`, so it is neither shown nor kept in the history. */
function tokenInAddress(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token !== null) history.replaceState(null, '', location.pathname);
  return token;
}

/** Opens the browser's existing session, or one with the token in the address. */
export async function openSession(): Promise<void> {
  const token = tokenInAddress();
  try {
    if (token !== null) await beginSession(token);
    current.value = { state: 'open', session: await requestJson<Session>('/api/session') };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    current.value = error.status === 401 ? { state: 'logged-out' } : { state: 'failed', error };
  }
}

async function beginSession(token: string): Promise<void> {
  const body = { token, reviewer: loadPreference('reviewer') };
  const { page_key } = await requestJson<LoggedIn>('/api/session', { method: 'POST', body });
  setPageKey(page_key);
}

/** Logs in. Throws an ApiError if the token is not the server's. */
export async function logIn(token: string): Promise<void> {
  await beginSession(token);
  current.value = { state: 'open', session: await requestJson<Session>('/api/session') };
}

/** Sets the reviewer's name, also for the next login with this browser. */
export async function nameReviewer(name: string): Promise<void> {
  await request('/api/session/reviewer', { method: 'POST', body: { name } });
  savePreference('reviewer', name.trim());
  current.value = { state: 'open', session: await requestJson<Session>('/api/session') };
}

export async function logOut(): Promise<void> {
  await request('/api/session', { method: 'DELETE', body: {} });
  current.value = { state: 'logged-out' };
}

/** The reviewer's name; empty until it was given. */
export function reviewerName(): string {
  return (current.value.state === 'open' && current.value.session.reviewer) || '';
}
