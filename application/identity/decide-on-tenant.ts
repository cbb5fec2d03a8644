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

export type DecideOnTenantInput = {
  readonly slug: string;
  readonly commandFor: CommandFor<TenantState, TenantCommand>;
  readonly before?: () => Promise<void>;
};

/**
 * Runs a command on a tenant's stream, and waits until this process applies the change. New domains are claimed with
 * the append, so that a domain never belongs to two tenants.
 * @param input `before` runs after the claims and before the append.
 * @throws refusals of `tenantDecider` and of `commandFor`; `tenant_domain_taken`
 */
export async function decideOnTenant(
  { slug, commandFor, before }: DecideOnTenantInput,
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
              const [domainsBefore, domainsAfter] = [domainsOf(state), domainsOf(next)];
              const added = domainsAfter.filter((domain) => !domainsBefore.includes(domain));
              const removed = domainsBefore.filter((domain) => !domainsAfter.includes(domain));
              refuseHeldDomains(
                await session.take({ owner, claimed: added.map(domainClaim), released: removed.map(domainClaim) }),
              );
              await before?.();
              return session.guardsOf(owner);
            },
            onGuardFailed: async () => {
              refuseHeldDomains(await session.findHeldValues(owner));
            },
          },
          { ...context, tenant: DEFAULT_TENANT },
          { eventStore },
        ),
      heldAfter: ({ state }) => domainsOf(state).map(domainClaim),
    },
    { claims, eventStore },
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
  return domainsOf(state).map(domainClaim);
}

function domainsOf(state: TenantState): readonly string[] {
  return state?.domains ?? [];
}

function refuseHeldDomains(held: readonly ClaimRequest[]): void {
  if (held.length === 0) return;
  throw refusal('tenant_domain_taken', {
    fields: held.map(({ value }) => ({ field: 'domains', message: `${value} is another tenant's` })),
  });
}

/** Domains are unique in the installation. */
function domainClaim(domain: string): ClaimRequest {
  return { tenant: DEFAULT_TENANT, scope: 'tenant/domain', value: domain };
}
