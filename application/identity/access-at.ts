import type { CommandContext } from '../../domain/context.ts';
import type { Decider } from '../../domain/decider.ts';
import { refusal } from '../../domain/errors.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { accessRuleDecider, parseAccessRuleEvent } from '../../domain/identity/access-rule-set.ts';
import type { AccessSubject, EffectiveAccess } from '../../domain/identity/effective-access.ts';
import { effectiveAccess } from '../../domain/identity/effective-access.ts';
import { isMember } from '../../domain/identity/memberships.ts';
import { SUPER_ADMIN, rolesInTenant } from '../../domain/identity/roles.ts';
import { parseTenantEvent, tenantDecider } from '../../domain/identity/tenant.ts';
import { user } from '../../domain/identity/user.ts';
import { parseUserEvent } from '../../domain/identity/user-events.ts';
import type { EventStore } from '../ports/event-store.ts';
import { accessRuleStream } from './access-rules.ts';
import { apiKeyHistory } from './api-key-history.ts';
import { compileAccessRules } from './compile-access-rules.ts';
import { apiKeyStream } from './decide-on-api-key.ts';
import { tenantStream } from './decide-on-tenant.ts';
import { userStream } from './decide-on-user.ts';

export type AccessQuestionAt = {
  readonly subject: { readonly kind: 'role' | 'user' | 'api_key'; readonly id: string };
  /** RFC 3339, UTC, milliseconds; inclusive. */
  readonly asOf: string;
  /** Whether the asker may ask for people of other tenants. */
  readonly acrossTenants: boolean;
};

export type AccessAt = AccessSubject & {
  /** False for who was disabled, deleted, revoked, expired, no member any more, or whose tenant was disabled: nothing was open then. */
  readonly active: boolean;
  readonly rules: readonly EffectiveAccess[];
};

type Held = AccessSubject & { readonly active: boolean };

/**
 * What a role, a person or a key could do in the context's tenant at a moment, folded from the streams.
 * @throws `user_not_found`, `api_key_not_found`: unknown, or not there yet at that moment
 */
export async function accessAt(eventStore: Pick<EventStore, 'readStream'>, { subject, asOf, acrossTenants }: AccessQuestionAt, { tenant }: Pick<CommandContext, 'tenant'>): Promise<AccessAt> {
  const held = await subjectAt();
  const ofTenant = await stateAt(tenantStream(tenant), tenantDecider, parseTenantEvent);
  const active = held.active && (!ofTenant.disabled || (subject.kind === 'user' && held.roles.includes(SUPER_ADMIN)));
  const rules = [...(await stateAt(accessRuleStream(tenant), accessRuleDecider, parseAccessRuleEvent)).values()];
  const decide = compileAccessRules(rules);
  return { ...held, active, rules: active ? effectiveAccess(held, rules, (schema, action) => decide({ roles: held.roles, schema, action })) : [] };

  function subjectAt(): Promise<Held> {
    if (subject.kind === 'role') return Promise.resolve({ active: true, roles: [subject.id] });
    return subject.kind === 'user' ? userAt() : keyAt();
  }

  async function userAt(): Promise<Held> {
    const { state, everMember } = await personAt();
    if (state.status === 'unknown' || !(acrossTenants || everMember)) throw refusal('user_not_found');
    const roles = rolesInTenant(state.roles, state.memberships.find((membership) => membership.tenant === tenant)?.roles ?? []);
    const belongs = isMember(state, tenant) || state.roles.includes(SUPER_ADMIN);
    return { active: state.status === 'active' && !state.disabled && belongs, roles };
  }

  /** The person, and whether they ever belonged to the tenant up to then: those who did not are none of its admins' business. */
  async function personAt() {
    let state = user.initialState();
    let everMember = false;
    for await (const event of eventsUntil(userStream(subject.id))) {
      state = user.evolve(state, parseUserEvent(event));
      everMember ||= isMember(state, tenant);
    }
    return { state, everMember };
  }

  async function keyAt(): Promise<Held> {
    const state = await stateAt(apiKeyStream(tenant, subject.id), apiKeyHistory, (event) => event);
    if (!state) throw refusal('api_key_not_found');
    const { roles, scopes, schemas, enabled, expires_at } = state;
    return { active: enabled && (expires_at === null || expires_at > asOf), roles, scopes, schemas };
  }

  async function stateAt<State, Event>(stream: string, decider: Decider<State, Event>, parse: (event: RecordedEvent) => Event): Promise<State> {
    let state = decider.initialState();
    for await (const event of eventsUntil(stream)) state = decider.evolve(state, parse(event));
    return state;
  }

  async function* eventsUntil(stream: string): AsyncIterable<RecordedEvent> {
    for await (const event of eventStore.readStream(stream)) {
      if (event.metadata.occurred_at > asOf) return;
      yield event;
    }
  }
}
