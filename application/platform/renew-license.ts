import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import { streamName } from '../../domain/stream.ts';
import { appendOnce, toNewEvent } from '../handle-command.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Licensing } from './licensing.ts';

/**
 * Renews the license of the installation and appends `LicenseRenewed`. The event holds what the license grants, never
 * the key.
 * @returns the position of the event
 * @throws refusals of `Licensing.renew`
 */
export async function renewLicense(
  { licenseKey }: { readonly licenseKey: string },
  context: CommandContext,
  {
    licensing,
    eventStore,
  }: { readonly licensing: Pick<Licensing, 'renew'>; readonly eventStore: Pick<EventStore, 'append'> },
): Promise<GlobalPosition> {
  const { plan, capabilities, expiresAt } = await licensing.renew(licenseKey);
  const renewed = toNewEvent(
    { type: 'LicenseRenewed', data: { plan, capabilities, expires_at: expiresAt.toISOString() } },
    { ...context, tenant: DEFAULT_TENANT },
  );
  const stream = streamName({ category: 'settings', tenant: DEFAULT_TENANT, id: 'license' });
  const { position } = await appendOnce(() => eventStore.append(stream, [renewed], { expected: 'any' }));
  return position;
}
