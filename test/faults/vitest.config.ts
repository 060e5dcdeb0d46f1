import { REDIS, suite } from '../helpers/setup/suite.ts';

/** A fleet under a storm of faults, as many times as FAULTS_SEEDS says. */
export default suite('faults', [REDIS], { maxWorkers: 1 });
