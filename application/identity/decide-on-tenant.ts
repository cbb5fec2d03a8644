import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import { tenantEvents } from '../../domain/identity/tenant-events.ts';
import { type TenantCommand, type TenantState, tenantDecider } from '../../domain/identity/tenant.ts';
import { streamName } from '../../domain/stream.ts';
import { foldStream } from '../fold-stream.ts';
import { type CommandFor, type CommandOutcome, decideBy, handleCommand } from '../handle-command.ts';
import type { ClaimRequest } from '../ports/claims.ts';
import type { EventStore } from '../ports/event-store.ts';
import { withClaims } from '../with-claims.ts';
import type { TenantDependencies } from './tenant-dependencies.ts';

/** Stream of a tenant. The slug is the id. */
export function tenantStream(slug: string): string {
  return streamName({ category: 'tenant', tenant: DEFAULT_TENANT, id: slug });
}

/**
 * Runs a command on a tenant's stream, and waits until this process applies the change. New domains are claimed before
 * the append, so that a domain never belongs to two tenants.
 * @param input `before` runs after the claims and before the append.
 * @throws refusals of `tenantDecider` and of `commandFor`; `tenant_domain_taken`
 */
export async function decideOnTenant(
  {
    slug,
    commandFor,
    before,
  }: {
    readonly slug: string;
    readonly commandFor: CommandFor<TenantState, TenantCommand>;
    readonly before?: () => Promise<void>;
  },
  context: CommandContext,
  { eventStore, claims, changes, tenants }: TenantDependencies,
): Promise<CommandOutcome<TenantState>> {
  const owner = tenantStream(slug);
  const outcome = await withClaims(
    {
      command: context.repeatable?.attempt ?? context.newId(),
      work: (session) =>
        handleCommand(
          {
            stream: owner,
            decider: tenantDecider,
            parse: tenantEvents.parse,
            decide: decideBy(tenantDecider, commandFor),
            beforeAppend: async (events, state) => {
              const next = events.reduce(tenantDecider.evolve, state);
              const added = next.domains.filter((domain) => !state.domains.includes(domain));
              const removed = state.domains.filter((domain) => !next.domains.includes(domain));
              const held = await session.claim({
                owner,
                claimed: added.map(domainClaim),
                released: removed.map(domainClaim),
              });
              if (held.length > 0)
                throw refusal('tenant_domain_taken', {
                  fields: held.map(({ value }) => ({ field: 'domains', message: `${value} is another tenant's` })),
                });
              await before?.();
            },
          },
          { ...context, tenant: DEFAULT_TENANT },
          { eventStore },
        ),
      heldAfter: ({ state }) => state.domains.map(domainClaim),
    },
    { claims },
  );
  if (outcome.position !== undefined) changes.expect(outcome.position);
  await tenants.waitFor(outcome.position);
  return outcome;
}

/** The domains that a tenant's stream holds now. The reaper compares claims with them. */
export async function claimsOfTenant(
  stream: string,
  { eventStore }: { readonly eventStore: Pick<EventStore, 'readStream'> },
): Promise<readonly ClaimRequest[]> {
  const { state } = await foldStream({ stream, decider: tenantDecider, parse: tenantEvents.parse }, { eventStore });
  return state.domains.map(domainClaim);
}

/** Domains are unique in the installation. */
function domainClaim(domain: string): ClaimRequest {
  return { tenant: DEFAULT_TENANT, scope: 'tenant/domain', value: domain };
}
