import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { EventData } from '../event.ts';
import type { AdminTokenEvent } from './admin-token-events.ts';

export type AdminTokenState = { readonly status: 'unknown' | 'active' | 'revoked' };

export type AdminTokenCommand =
  | { readonly kind: 'create'; readonly event: EventData<AdminTokenEvent, 'AdminTokenCreated'> }
  | { readonly kind: 'rotate'; readonly event: EventData<AdminTokenEvent, 'AdminTokenRotated'> }
  | { readonly kind: 'revoke' };

export const adminTokenDecider: Decider<AdminTokenState, AdminTokenCommand, AdminTokenEvent> = {
  initialState: () => ({ status: 'unknown' }),
  decide,
  evolve: (_state, event) => ({ status: event.type === 'AdminTokenRevoked' ? 'revoked' : 'active' }),
};

/**
 * Revoking a revoked token changes nothing. An expired token can be rotated.
 * @throws `admin_token_not_found`, `admin_token_revoked`
 */
function decide({ status }: AdminTokenState, command: AdminTokenCommand): readonly AdminTokenEvent[] {
  if (command.kind === 'create') return [{ type: 'AdminTokenCreated', data: command.event }];
  if (status === 'unknown') throw refusal('admin_token_not_found');
  if (command.kind === 'revoke') return status === 'revoked' ? [] : [{ type: 'AdminTokenRevoked', data: {} }];
  if (status === 'revoked') throw refusal('admin_token_revoked');
  return [{ type: 'AdminTokenRotated', data: command.event }];
}
