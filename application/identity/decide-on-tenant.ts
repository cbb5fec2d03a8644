import type { CommandContext } from '../../domain/context.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import { HOME_TENANT } from '../../domain/identity/memberships.ts';
import type { TenantCommand, TenantEvent, TenantState } from '../../domain/identity/tenant.ts';
import { decideTenant, parseTenantEvent, tenantDecider } from '../../domain/identity/tenant.ts';
import { streamName } from '../../domain/stream.ts';
import type { CommandOutcome } from '../handle-command.ts';
import { handleCommand } from '../handle-command.ts';
import type { ClaimRequest } from '../ports/claims.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { IdentityDependencies } from './dependencies.ts';

export type TenantDependencies = Pick<IdentityDependencies, 'eventStore' | 'claims' | 'changes' | 'tenants'>;

/** Stream of a tenant: its slug is its id. */
export function tenantStream(slug: string): string {
  return streamName({ category: 'tenant', tenant: HOME_TENANT, id: slug });
}

/**
 * Runs a command on a tenant's stream and waits until this process goes by it. Its domains are claimed before the append, so that of tenants
 * that want the same one, on whatever replicas, one gets it (rule 8). `before` runs between decision and append.
 * @throws refusals of `decideTenant`, `tenant_domain_taken`
 */
export async function decideOnTenant(
  { eventStore, claims, changes, tenants }: TenantDependencies,
  { command, before }: { readonly command: TenantCommand; readonly before?: () => Promise<void> },
  context: CommandContext,
): Promise<CommandOutcome<TenantState>> {
  const owner = tenantStream(command.slug);
  const run = context.newId();
  const touched = new Set<string>();
  const outcome = await handleCommand<TenantState, TenantEvent>({
    eventStore,
    stream: owner,
    decider: tenantDecider,
    parse: parseTenantEvent,
    context: { ...context, tenant: HOME_TENANT },
    decide: (state) => decideTenant(command, state),
    beforeAppend: async (events, state) => {
      const next = events.reduce(tenantDecider.evolve, state);
      const taken = next.domains.filter((domain) => !state.domains.includes(domain));
      const left = state.domains.filter((domain) => !next.domains.includes(domain));
      for (const domain of [...taken, ...left]) touched.add(domain);
      const held = await claims.claim(owner, taken.map(domainClaim), left.map(domainClaim), run);
      if (held.length > 0) throw refusal('tenant_domain_taken', { fields: held.map(({ value }) => ({ field: 'domains', message: `${value} is another tenant's` })) });
      await before?.();
    },
  }).catch(async (error: unknown) => {
    // Of an unknown outcome the reaper learns from the stream.
    if (touched.size > 0 && !hasCode(error, 'outcome_unknown')) await claims.abandon(owner, [...touched].map(domainClaim), run).catch(() => undefined);
    throw error;
  });
  const holds = (domain: string): boolean => outcome.state.domains.includes(domain);
  const settled = [...touched];
  // What this leaves undone the reaper does.
  if (settled.length > 0) await claims.confirm(owner, settled.filter(holds).map(domainClaim), settled.filter((domain) => !holds(domain)).map(domainClaim), run).catch(() => undefined);
  if (outcome.position !== undefined) changes.expect(outcome.position);
  await tenants.caughtUp(outcome.position);
  return outcome;
}

/** The domains that a tenant's stream holds now, for the reaping of claims that a crash left (rule 8). */
export async function claimsOfTenant(eventStore: Pick<EventStore, 'readStream'>, stream: string): Promise<readonly ClaimRequest[]> {
  let state = tenantDecider.initialState();
  for await (const event of eventStore.readStream(stream)) state = tenantDecider.evolve(state, parseTenantEvent(event));
  return state.domains.map(domainClaim);
}

/** Domains are unique in the install. */
function domainClaim(domain: string): ClaimRequest {
  return { tenant: HOME_TENANT, scope: 'tenant/domain', value: domain };
}
