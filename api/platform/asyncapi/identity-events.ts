import { Type } from '@sinclair/typebox';
import type { AccessRuleEvent } from '../../../domain/identity/access-rule-events.ts';
import { ACCESS_ACTIONS } from '../../../domain/identity/access-rule.ts';
import type { AdminTokenEvent } from '../../../domain/identity/admin-token-events.ts';
import type { ApiKeyEvent } from '../../../domain/identity/api-key-events.ts';
import { MFA_METHODS } from '../../../domain/identity/mfa.ts';
import type { TenantEvent } from '../../../domain/identity/tenant-events.ts';
import type { UserEvent } from '../../../domain/identity/user-events.ts';
import { Id, Texts, Timestamp, nullable, oneOf } from '../../http/schemas.ts';
import { type EventSchemas, Nothing, SealedValue } from './event-schemas.ts';

const roles = Texts;
const password = { password_hash: SealedValue };

export const USER_EVENTS: EventSchemas<UserEvent> = {
  UserCreated: Type.Object({
    user_id: Id,
    email: SealedValue,
    ...password,
    roles,
    member_of: Type.String({ description: 'Slug of the tenant that the user joins' }),
    first_account: Type.Optional(Type.Literal(true)),
  }),
  UserRolesChanged: Type.Object({ roles }),
  UserMembershipGranted: Type.Object({ tenant: Type.String(), roles }),
  UserMembershipRemoved: Type.Object({ tenant: Type.String() }),
  UserStateChanged: Type.Object({ disabled: Type.Boolean() }),
  UserPasswordChanged: Type.Object({
    ...password,
    reason: Type.Optional(oneOf(['changed', 'reset', 'set'])),
    kept_session: Type.Optional(Type.String()),
  }),
  UserPasswordRehashed: Type.Object(password),
  UserSignInBlocked: Nothing,
  UserMfaEnabled: Type.Object({
    secret: SealedValue,
    recovery_codes: Type.Array(Type.String({ description: 'A keyed digest' })),
  }),
  UserRecoveryCodeUsed: Type.Object({ recovery_code: Type.String({ description: 'A keyed digest' }) }),
  UserMfaDisabled: Nothing,
  UserSignedIn: Type.Object({
    session_id: Type.String(),
    tenant: Type.String(),
    method: oneOf(['setup', 'password', 'magic_link', 'device']),
    second_factor: Type.Optional(oneOf(MFA_METHODS)),
  }),
  UserSessionEnded: Type.Object({ session_id: Type.String(), reason: oneOf(['signed_out', 'refresh_token_reused']) }),
  UserDeleted: Nothing,
  UserErased: Nothing,
};

const tenant = { name: Type.String(), domains: Texts, disabled: Type.Boolean() };

export const TENANT_EVENTS: EventSchemas<TenantEvent> = {
  TenantCreated: Type.Object({ slug: Type.String(), ...tenant }),
  TenantChanged: Type.Intersect([Type.Object({ slug: Type.String() }), Type.Partial(Type.Object(tenant))]),
  TenantDeleted: Type.Object({ slug: Type.String() }),
};

const hash = {
  key_hash: Type.String({ description: 'An HMAC under a key of the installation' }),
  prefix: Type.String({ description: 'The public first characters of the key' }),
};

export const API_KEY_EVENTS: EventSchemas<ApiKeyEvent> = {
  ApiKeyCreated: Type.Object({
    key_id: Id,
    name: Type.String(),
    ...hash,
    scopes: Texts,
    roles,
    schemas: Texts,
    expires_at: nullable(Timestamp),
    monthly_limit: Type.Integer(),
  }),
  ApiKeySchemasChanged: Type.Object({ schemas: Texts }),
  ApiKeyMonthlyLimitChanged: Type.Object({ monthly_limit: Type.Integer() }),
  ApiKeyRotated: Type.Object({ ...hash, previous_until: nullable(Timestamp) }),
  ApiKeyRevoked: Nothing,
  ApiKeyDeleted: Nothing,
};

const issued = {
  token_hash: Type.String({ description: 'An HMAC under a key of the installation' }),
  issued_by: Id,
  issued_at: Timestamp,
  expires_at: Timestamp,
};

export const ADMIN_TOKEN_EVENTS: EventSchemas<AdminTokenEvent> = {
  AdminTokenCreated: Type.Object({ ...issued, token_id: Id, name: Type.String(), grants: Texts }),
  AdminTokenRotated: Type.Object(issued),
  AdminTokenRevoked: Nothing,
};

const rule = {
  role: Type.String(),
  schema_name: Type.String(),
  actions: Type.Array(oneOf([...ACCESS_ACTIONS, '*'])),
  field_mask: Texts,
};

export const ACCESS_RULE_EVENTS: EventSchemas<AccessRuleEvent> = {
  AccessRuleCreated: Type.Object({ rule_id: Id, ...rule }),
  AccessRuleChanged: Type.Intersect([Type.Object({ rule_id: Id }), Type.Partial(Type.Object(rule))]),
  AccessRuleDeleted: Type.Object({ rule_id: Id }),
};
