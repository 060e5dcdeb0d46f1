/** Choices of the user that stay in the browser, their name in reviews, and the key of its session: never content, ids or tokens. */
type Choice = 'theme' | 'shortcuts' | 'page-key' | 'reviewer';

/** A choice made before; null if there is none, or the browser keeps nothing. */
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
    // A browser that keeps nothing: the choice lasts as long as the page.
  }
}
