import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { ApiKeyEvent } from './api-key-events.ts';
import { mayGrant } from './roles.ts';

export type ApiKeyState =
  | { readonly status: 'unknown' }
  | { readonly status: 'deleted' }
  | { readonly status: 'enabled' | 'revoked'; readonly roles: readonly string[]; readonly monthlyLimit: number };

type DataOf<Type extends ApiKeyEvent['type']> = Extract<ApiKeyEvent, { type: Type }>['data'];

export type ApiKeyCommand =
  | { readonly kind: 'create'; readonly event: DataOf<'ApiKeyCreated'> }
  | { readonly kind: 'set_schemas'; readonly schemas: readonly string[] }
  | { readonly kind: 'set_monthly_limit'; readonly monthlyLimit: number }
  | { readonly kind: 'rotate'; readonly event: DataOf<'ApiKeyRotated'>; readonly maker: { readonly roles: readonly string[] } }
  | { readonly kind: 'revoke' }
  | { readonly kind: 'delete' };

/**
 * Decides on a key (spec 1, states of an API key; spec 4 A). Revoking a revoked key changes nothing. Whoever rotates a key learns a secret that
 * acts with its roles, so they must hold them, as for a new key.
 * @throws `api_key_not_found`, `api_key_revoked`, `cannot_grant_roles`
 */
export function decideApiKey(command: ApiKeyCommand, state: ApiKeyState): readonly ApiKeyEvent[] {
  if (command.kind === 'create') return [{ type: 'ApiKeyCreated', data: command.event }];
  if (state.status === 'unknown' || state.status === 'deleted') throw refusal('api_key_not_found');
  switch (command.kind) {
    case 'delete':
      return [{ type: 'ApiKeyDeleted', data: {} }];
    case 'set_schemas':
      return [{ type: 'ApiKeySchemasChanged', data: { schemas: command.schemas } }];
    case 'set_monthly_limit':
      return command.monthlyLimit === state.monthlyLimit ? [] : [{ type: 'ApiKeyMonthlyLimitChanged', data: { monthly_limit: command.monthlyLimit } }];
    case 'rotate':
      if (!mayGrant(command.maker, state.roles)) throw refusal('cannot_grant_roles');
      if (state.status === 'revoked') throw refusal('api_key_revoked');
      return [{ type: 'ApiKeyRotated', data: command.event }];
    case 'revoke':
      return state.status === 'revoked' ? [] : [{ type: 'ApiKeyRevoked', data: {} }];
  }
}

/** Whether a limit lets a key make more requests a month than the one in force: 0 is no limit. A first limit counts as a raise (spec 1, API key routes). */
export function needsPaidLimit(asked: number, inForce: number): boolean {
  return asked !== 0 && (inForce === 0 || asked > inForce);
}

function evolve(state: ApiKeyState, event: ApiKeyEvent): ApiKeyState {
  if (event.type === 'ApiKeyCreated') return { status: 'enabled', roles: event.data.roles, monthlyLimit: event.data.monthly_limit };
  if (state.status === 'unknown' || state.status === 'deleted') return state;
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

export const apiKey: Decider<ApiKeyState, ApiKeyEvent> = { initialState: () => ({ status: 'unknown' }), evolve };
