/**
 * Choices of the user that are stored in the browser, their name in reviews, and the key of the session: never content,
 * ids or tokens.
 */
type Choice = 'theme' | 'shortcuts' | 'page-key' | 'reviewer';

/** Loads a stored choice; null if there is none, or the browser has no storage. */
export function loadPreference(choice: Choice): string | null {
  try {
    return localStorage.getItem(`guardsweep.${choice}`);
  } catch {
    return null;
  }
}

export function savePreference(choice: Choice, value: string): void {
  try {
    localStorage.setItem(`guardsweep.${choice}`, value);
  } catch {
    // The browser has no storage: the choice lasts as long as the page.
  }
}
