import { suite } from '../helpers/setup/suite.ts';

/**
 * Every parser over strings that were made to slow it down.
 * One file at a time: what is measured is the time of this process' threads.
 */
export default suite('adversarial', ['test/adversarial/print-seed.ts'], { maxWorkers: 1 });
