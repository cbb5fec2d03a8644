import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { HOME_TENANT } from '../../domain/identity/memberships.ts';
import { streamName } from '../../domain/stream.ts';
import { appendOnce, toNewEvent } from '../handle-command.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Licensing } from './licensing.ts';

/**
 * Renews the license of the install and writes down that it was (spec 1, license). The event names what was granted, never the key.
 * @returns position of the event
 * @throws what `Licensing.renew` refuses
 */
export async function renewLicense(
  { licensing, eventStore }: { readonly licensing: Pick<Licensing, 'renew'>; readonly eventStore: EventStore },
  { licenseKey }: { readonly licenseKey: string },
  context: CommandContext,
): Promise<GlobalPosition> {
  const { plan, capabilities, expiresAt } = await licensing.renew(licenseKey);
  const renewed = toNewEvent({ type: 'LicenseRenewed', data: { plan, capabilities, expires_at: expiresAt.toISOString() } }, { ...context, tenant: HOME_TENANT });
  const stream = streamName({ category: 'settings', tenant: HOME_TENANT, id: 'license' });
  return (await appendOnce(() => eventStore.append(stream, [renewed], { expected: 'any' }))).position;
}
