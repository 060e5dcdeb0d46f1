import type { Health } from '../../../src/dashboard/api/runs.ts';
import { escapeText } from '../../../src/domain/text/escape-text.ts';
import { UntrustedText } from '../ui/untrusted-text.tsx';
import { count, formatCount } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';

const MAX_PROBLEM = 200;

/** The state of the guards, and of the fleet if there is one, in words. */
export function HealthStrip({ health }: { readonly health: Health }) {
  const { guards, fleet } = health;
  if (guards.length === 0 && fleet === null) return null;
  return (
    <section class="health" aria-label="Health">
      <ul>
        {guards.map((guard) => (
          <GuardHealth key={guard.endpoint} guard={guard} />
        ))}
        {fleet !== null && <FleetHealth fleet={fleet} />}
      </ul>
    </section>
  );
}

function GuardHealth({ guard }: { readonly guard: Health['guards'][number] }) {
  const { endpoint, ready, problem, requests_in_flight: inFlight } = guard;
  const words = ready ? 'ready' : escapeText(problem ?? 'not ready', MAX_PROBLEM);
  return (
    <li class={ready ? 'tone-allow' : 'tone-block'}>
      <Icon name={ready ? 'check' : 'alert'} />
      <span>
        Guard <UntrustedText code text={endpoint} max={60} /> {words}
        {inFlight !== null && <span class="muted">, {formatCount(inFlight, 'request')} in flight</span>}
      </span>
    </li>
  );
}

function FleetHealth({ fleet }: { readonly fleet: NonNullable<Health['fleet']> }) {
  const { redis, connected, workers, sinks, queues } = fleet;
  const missing = workers === 0 ? 'no worker' : sinks === 0 ? 'no sink' : null;
  const sound = connected && missing === null;
  const busy = queues.filter(({ waiting, active }) => waiting + active > 0);
  return (
    <>
      <li class={sound ? 'tone-allow' : 'tone-block'}>
        <Icon name={sound ? 'check' : 'alert'} />
        <span>
          Fleet over <UntrustedText code text={redis} max={60} />{' '}
          {connected
            ? `${formatCount(workers, 'worker')}, ${formatCount(sinks, 'sink')}`
            : 'Redis cannot be reached'}
        </span>
      </li>
      {busy.map(({ queue, waiting, active }) => (
        <li key={queue} class="tone-neutral">
          <Icon name="info" />
          <span>
            Queue <UntrustedText code text={queue} max={40} /> {count(waiting)} waiting, {count(active)} being
            done
          </span>
        </li>
      ))}
    </>
  );
}
