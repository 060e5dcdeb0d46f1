import { debianProgram } from '../setup/debian-program.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The name of the browser on the PATH. */
export const chromiumProgram = (): string =>
  debianProgram(NAMES, { versionFlag: '--version', package: 'chromium' });

/** Once, before tests run side by side: two of them must not install it at the same time. */
export default (): void => void chromiumProgram();
