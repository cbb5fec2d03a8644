import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { AdminTokenEvent } from './admin-token-events.ts';

export type AdminTokenState = { readonly status: 'unknown' | 'active' | 'revoked' };

type DataOf<Type extends AdminTokenEvent['type']> = Extract<AdminTokenEvent, { type: Type }>['data'];

export type AdminTokenCommand =
  | { readonly kind: 'create'; readonly event: DataOf<'AdminTokenCreated'> }
  | { readonly kind: 'rotate'; readonly event: DataOf<'AdminTokenRotated'> }
  | { readonly kind: 'revoke' };

/**
 * Decides on an admin token (spec 4 A, admin tokens). An expired one can be rotated, a revoked one can't; revoking it again changes nothing.
 * @throws `admin_token_not_found`, `admin_token_revoked`
 */
export function decideAdminToken(command: AdminTokenCommand, { status }: AdminTokenState): readonly AdminTokenEvent[] {
  if (command.kind === 'create') return [{ type: 'AdminTokenCreated', data: command.event }];
  if (status === 'unknown') throw refusal('admin_token_not_found');
  if (command.kind === 'revoke') return status === 'revoked' ? [] : [{ type: 'AdminTokenRevoked', data: {} }];
  if (status === 'revoked') throw refusal('admin_token_revoked');
  return [{ type: 'AdminTokenRotated', data: command.event }];
}

export const adminToken: Decider<AdminTokenState, AdminTokenEvent> = {
  initialState: () => ({ status: 'unknown' }),
  evolve: (_, event) => ({ status: event.type === 'AdminTokenRevoked' ? 'revoked' : 'active' }),
};
