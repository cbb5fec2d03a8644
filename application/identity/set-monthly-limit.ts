import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { needsPaidLimit } from '../../domain/identity/api-key.ts';
import { paymentRequired } from '../platform/gates.ts';
import { decideOnApiKey } from './decide-on-api-key.ts';
import type { IdentityDependencies } from './dependencies.ts';

/**
 * Sets how many requests a key may make in a UTC calendar month; 0 is no limit. A first limit and a raise need `apikey-pro`, lowering and
 * clearing are free (spec 1, API key routes). @returns position to wait for
 * @throws `api_key_not_found`, `payment_required`
 */
export function setMonthlyLimit(
  dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'entitlements'>,
  { keyId, monthlyLimit }: { readonly keyId: string; readonly monthlyLimit: number },
  context: CommandContext,
): Promise<GlobalPosition | undefined> {
  const { entitlements } = dependencies;
  return decideOnApiKey(dependencies, {
    keyId,
    command: { kind: 'set_monthly_limit', monthlyLimit },
    check(state) {
      if (!('monthlyLimit' in state) || entitlements.has('apikey-pro') || !needsPaidLimit(monthlyLimit, state.monthlyLimit)) return;
      throw paymentRequired({ plugin: 'apikey', feature: 'apikey-pro' }, entitlements);
    },
  }, context);
}
