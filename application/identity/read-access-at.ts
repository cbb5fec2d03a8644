import type { CommandContext } from '../../domain/context.ts';
import type { Fold } from '../../domain/decider.ts';
import { refusal } from '../../domain/errors.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { accessRuleEvents } from '../../domain/identity/access-rule-events.ts';
import { accessRulesDecider } from '../../domain/identity/access-rules.ts';
import { apiKeyEvents } from '../../domain/identity/api-key-events.ts';
import { apiKeyRights } from '../../domain/identity/api-key-rights.ts';
import { type AccessSubject, type EffectiveAccess, effectiveAccess } from '../../domain/identity/effective-access.ts';
import { belongsTo, isMember } from '../../domain/identity/memberships.ts';
import { SUPER_ADMIN } from '../../domain/identity/roles.ts';
import { tenantEvents } from '../../domain/identity/tenant-events.ts';
import { tenantDecider } from '../../domain/identity/tenant.ts';
import { type UserEvent, userEvents } from '../../domain/identity/user-events.ts';
import { type UserState, userDecider } from '../../domain/identity/user.ts';
import { foldStream } from '../fold-stream.ts';
import type { EventStore } from '../ports/event-store.ts';
import { compileAccessRules } from './compile-access-rules.ts';
import { accessRuleStream } from './decide-on-access-rules.ts';
import { apiKeyStream } from './decide-on-api-key.ts';
import { tenantStream } from './decide-on-tenant.ts';
import { userStream } from './decide-on-user.ts';
import { rolesOfUserIn } from './session-validity.ts';

export type AccessQuestionAt = {
  readonly subject: { readonly kind: 'role' | 'user' | 'api_key'; readonly id: string };
  /** Point in time, inclusive: RFC 3339, UTC, milliseconds. */
  readonly asOf: string;
  /** Whether the caller may ask about users who were never members of the tenant. */
  readonly acrossTenants: boolean;
};

export type AccessAt = AccessSubject & {
  /**
   * False when the subject was disabled, deleted, revoked, expired or not a member, or when its tenant was disabled.
   * Then `rules` is empty.
   */
  readonly active: boolean;
  readonly rules: readonly EffectiveAccess[];
};

type SubjectAt = AccessSubject & { readonly active: boolean };

/**
 * The rights of a role, a user or an API key in the context's tenant at a point in time, folded from the streams.
 * @throws `user_not_found`, `api_key_not_found`: unknown, or created later
 */
export async function readAccessAt(
  { subject, asOf, acrossTenants }: AccessQuestionAt,
  { tenant }: Pick<CommandContext, 'tenant'>,
  { eventStore }: { readonly eventStore: Pick<EventStore, 'readStream'> },
): Promise<AccessAt> {
  const past: Pick<EventStore, 'readStream'> = {
    readStream: (stream, options) => until(asOf, eventStore.readStream(stream, options)),
  };
  const held = await subjectAt();
  const disabled = (await stateAt(tenantStream(tenant), tenantDecider, tenantEvents.parse))?.disabled === true;
  const active = held.active && (!disabled || (subject.kind === 'user' && held.roles.includes(SUPER_ADMIN)));
  const rules = [...(await stateAt(accessRuleStream(tenant), accessRulesDecider, accessRuleEvents.parse)).values()];
  const decide = compileAccessRules(rules);
  return {
    ...held,
    active,
    rules: active
      ? effectiveAccess(held, rules, (schema, action) => decide({ roles: held.roles, schema, action }))
      : [],
  };

  function subjectAt(): Promise<SubjectAt> {
    if (subject.kind === 'role') return Promise.resolve({ active: true, roles: [subject.id] });
    return subject.kind === 'user' ? userAt() : keyAt();
  }

  async function userAt(): Promise<SubjectAt> {
    const { user, everMember } = await stateAt(userStream(subject.id), userWithHistoryIn(tenant), userEvents.parse);
    if (!user || !(acrossTenants || everMember)) throw refusal('user_not_found');
    const active = user.status === 'active' && !user.disabled && belongsTo(user, tenant);
    return { active, roles: rolesOfUserIn(user, tenant) };
  }

  async function keyAt(): Promise<SubjectAt> {
    const rights = await stateAt(apiKeyStream(tenant, subject.id), apiKeyRights, apiKeyEvents.parse);
    if (!rights) throw refusal('api_key_not_found');
    const { roles, scopes, schemas, enabled, expires_at } = rights;
    return { active: enabled && (expires_at === null || expires_at > asOf), roles, scopes, schemas };
  }

  async function stateAt<State, Event>(
    stream: string,
    decider: Fold<State, Event>,
    parse: (event: RecordedEvent) => Event,
  ): Promise<State> {
    return (await foldStream({ stream, decider, parse }, { eventStore: past })).state;
  }
}

/** A user, and whether they were ever a member of the tenant. Admins may not ask about users who never were. */
function userWithHistoryIn(
  tenant: string,
): Fold<{ readonly user: UserState; readonly everMember: boolean }, UserEvent> {
  return {
    initialState: () => ({ user: userDecider.initialState(), everMember: false }),
    evolve({ user: before, everMember }, event) {
      const user = userDecider.evolve(before, event);
      return { user, everMember: everMember || (user !== undefined && isMember(user, tenant)) };
    },
  };
}

async function* until(asOf: string, events: AsyncIterable<RecordedEvent>): AsyncIterable<RecordedEvent> {
  for await (const event of events) {
    if (event.metadata.occurred_at > asOf) return;
    yield event;
  }
}
