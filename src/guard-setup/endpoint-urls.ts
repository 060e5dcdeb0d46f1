import { EMBEDDED_GUARD, guardUrlsOf, parseGuardUrls } from '../config/values/guard-url.ts';

/** The guards a command is about: its `--guard` flags, else `GUARD_URL`, else the embedded one, as a run takes them. */
export function endpointUrls(
  flags: readonly string[] | undefined,
  env: NodeJS.ProcessEnv,
): readonly string[] {
  const flagged = flags?.map((value) => ({ value, place: '--guard' }));
  return parseGuardUrls(flagged ?? guardUrlsOf(env) ?? [{ value: EMBEDDED_GUARD, place: 'default' }]);
}
