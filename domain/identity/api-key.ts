import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { ApiKeyEvent } from './api-key-events.ts';

export type ApiKeyState = { readonly status: 'unknown' | 'enabled' | 'revoked' | 'deleted' };

export type ApiKeyCommand =
  | { readonly kind: 'create'; readonly event: Extract<ApiKeyEvent, { type: 'ApiKeyCreated' }>['data'] }
  | { readonly kind: 'set_schemas'; readonly schemas: readonly string[] }
  | { readonly kind: 'revoke' }
  | { readonly kind: 'delete' };

/** Decides on a key (spec 1, states of an API key). Revoking a revoked key changes nothing. @throws `api_key_not_found` */
export function decideApiKey(command: ApiKeyCommand, state: ApiKeyState): readonly ApiKeyEvent[] {
  if (command.kind === 'create') return [{ type: 'ApiKeyCreated', data: command.event }];
  if (state.status === 'unknown' || state.status === 'deleted') throw refusal('api_key_not_found');
  if (command.kind === 'delete') return [{ type: 'ApiKeyDeleted', data: {} }];
  if (command.kind === 'set_schemas') return [{ type: 'ApiKeySchemasChanged', data: { schemas: command.schemas } }];
  return state.status === 'revoked' ? [] : [{ type: 'ApiKeyRevoked', data: {} }];
}

function evolve(state: ApiKeyState, event: ApiKeyEvent): ApiKeyState {
  switch (event.type) {
    case 'ApiKeyCreated':
      return { status: 'enabled' };
    case 'ApiKeySchemasChanged':
      return state;
    case 'ApiKeyRevoked':
      return { status: 'revoked' };
    case 'ApiKeyDeleted':
      return { status: 'deleted' };
  }
}

export const apiKey: Decider<ApiKeyState, ApiKeyEvent> = { initialState: () => ({ status: 'unknown' }), evolve };
