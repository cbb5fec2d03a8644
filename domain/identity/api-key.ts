import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { ApiKeyEvent } from './api-key-events.ts';
import { mayGrant } from './roles.ts';

type ApiKey = {
  readonly status: 'enabled' | 'revoked';
  readonly roles: readonly string[];
  readonly monthlyLimit: number;
};

/** Undefined before the first event. */
export type ApiKeyState = ApiKey | { readonly status: 'deleted' } | undefined;

export type ApiKeySettings = {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly roles: readonly string[];
  readonly schemas: readonly string[];
  /** Undefined means never. */
  readonly expiresAt: Date | undefined;
  /** Requests per UTC calendar month; 0 means no limit. */
  readonly monthlyLimit: number;
};

/** What is stored of a secret: its public beginning and its HMAC. */
export type StoredSecret = { readonly prefix: string; readonly keyHash: string };

export type ApiKeyCommand =
  | {
      readonly kind: 'create';
      readonly keyId: string;
      readonly settings: ApiKeySettings;
      readonly secret: StoredSecret;
    }
  | { readonly kind: 'set_schemas'; readonly schemas: readonly string[] }
  | { readonly kind: 'set_monthly_limit'; readonly monthlyLimit: number }
  | {
      readonly kind: 'rotate';
      readonly secret: StoredSecret;
      /** End of the replaced secret; null ends it at once. */
      readonly previousUntil: Date | null;
      readonly creator: { readonly roles: readonly string[] };
    }
  | { readonly kind: 'revoke' }
  | { readonly kind: 'delete' };

type CommandOf<Kind extends ApiKeyCommand['kind']> = Extract<ApiKeyCommand, { readonly kind: Kind }>;

export const apiKeyDecider: Decider<ApiKeyState, ApiKeyCommand, ApiKeyEvent> = { initialState, decide, evolve };

function initialState(): ApiKeyState {
  return undefined;
}

/**
 * Revoking a revoked key changes nothing. A rotation gives the caller a secret with the key's roles, so the caller must
 * be allowed to grant these roles, as for a new key.
 * @throws `conflict` when the id of a new key is in use; `api_key_not_found`, `api_key_revoked`, `cannot_grant_roles`
 */
function decide(state: ApiKeyState, command: ApiKeyCommand): readonly ApiKeyEvent[] {
  switch (command.kind) {
    case 'create':
      if (state) throw refusal('conflict');
      return [created(command)];
    case 'set_schemas':
      existing(state);
      return [{ type: 'ApiKeySchemasChanged', data: { schemas: command.schemas } }];
    case 'set_monthly_limit':
      return command.monthlyLimit === existing(state).monthlyLimit
        ? []
        : [{ type: 'ApiKeyMonthlyLimitChanged', data: { monthly_limit: command.monthlyLimit } }];
    case 'rotate':
      return rotate(existing(state), command);
    case 'revoke':
      return existing(state).status === 'revoked' ? [] : [{ type: 'ApiKeyRevoked', data: {} }];
    case 'delete':
      existing(state);
      return [{ type: 'ApiKeyDeleted', data: {} }];
  }
}

function existing(state: ApiKeyState): ApiKey {
  if (!state || state.status === 'deleted') throw refusal('api_key_not_found');
  return state;
}

function created({ keyId, settings, secret }: CommandOf<'create'>): ApiKeyEvent {
  const { name, scopes, roles, schemas, expiresAt, monthlyLimit } = settings;
  return {
    type: 'ApiKeyCreated',
    data: {
      key_id: keyId,
      name,
      prefix: secret.prefix,
      key_hash: secret.keyHash,
      scopes,
      roles,
      schemas,
      expires_at: expiresAt?.toISOString() ?? null,
      monthly_limit: monthlyLimit,
    },
  };
}

function rotate(key: ApiKey, { secret, previousUntil, creator }: CommandOf<'rotate'>): readonly ApiKeyEvent[] {
  if (!mayGrant(creator, key.roles)) throw refusal('cannot_grant_roles');
  if (key.status === 'revoked') throw refusal('api_key_revoked');
  return [
    {
      type: 'ApiKeyRotated',
      data: {
        prefix: secret.prefix,
        key_hash: secret.keyHash,
        previous_until: previousUntil?.toISOString() ?? null,
      },
    },
  ];
}

function evolve(state: ApiKeyState, event: ApiKeyEvent): ApiKeyState {
  if (event.type === 'ApiKeyCreated')
    return { status: 'enabled', roles: event.data.roles, monthlyLimit: event.data.monthly_limit };
  if (!state || state.status === 'deleted') return state;
  switch (event.type) {
    case 'ApiKeySchemasChanged':
    case 'ApiKeyRotated':
      return state;
    case 'ApiKeyMonthlyLimitChanged':
      return { ...state, monthlyLimit: event.data.monthly_limit };
    case 'ApiKeyRevoked':
      return { ...state, status: 'revoked' };
    case 'ApiKeyDeleted':
      return { status: 'deleted' };
  }
}

/**
 * Whether setting the limit needs a license: a raise, or the first limit of a key.
 * @param requested Requests per month; 0 means no limit.
 * @param inForce The key's current limit; 0 means no limit.
 */
export function needsPaidLimit(requested: number, inForce: number): boolean {
  return requested !== 0 && (inForce === 0 || requested > inForce);
}
