import { PROTECTIONS, type ProtectionLimits } from '../../domain/traffic/protections.ts';
import type { Protections } from '../ports/protections.ts';
import type { RateCounters } from '../ports/rate-counters.ts';

/** Creates the protections on the rate counters of the installation. `limits` replace the default limits. */
export function createProtections({
  rateCounters,
  limits = {},
}: {
  readonly rateCounters: Pick<RateCounters, 'take'>;
  readonly limits?: ProtectionLimits | undefined;
}): Protections {
  return {
    async take(name, subject) {
      const { requests: limit, windowSeconds } = limits[name] ?? PROTECTIONS[name];
      return { ...(await rateCounters.take({ scope: `protection/${name}/${subject}`, limit, windowSeconds })), limit };
    },
  };
}
