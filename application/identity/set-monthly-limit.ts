import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { needsPaidLimit } from '../../domain/identity/api-key.ts';
import { paymentRequired } from '../platform/license-refusals.ts';
import type { SetMonthlyLimitDependencies } from './credential-dependencies.ts';
import { decideOnApiKey } from './decide-on-api-key.ts';

/**
 * Sets the number of requests that an API key may make in a UTC calendar month; 0 means no limit. The first limit and a
 * raise need the entitlement `apikey-pro`; lowering and clearing do not.
 * @returns the position to wait for
 * @throws `api_key_not_found`, `payment_required`
 */
export async function setMonthlyLimit(
  { keyId, monthlyLimit }: { readonly keyId: string; readonly monthlyLimit: number },
  context: CommandContext,
  dependencies: SetMonthlyLimitDependencies,
): Promise<GlobalPosition | undefined> {
  const { entitlements } = dependencies;
  const { position } = await decideOnApiKey(
    {
      id: keyId,
      commandFor(state) {
        if (
          state &&
          'monthlyLimit' in state &&
          needsPaidLimit(monthlyLimit, state.monthlyLimit) &&
          !entitlements.has('apikey-pro')
        )
          throw paymentRequired({ plugin: 'apikey', feature: 'apikey-pro' }, { entitlements });
        return { kind: 'set_monthly_limit', monthlyLimit };
      },
    },
    context,
    dependencies,
  );
  return position;
}
