import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { EventData } from '../event.ts';
import type { AdminTokenEvent } from './admin-token-events.ts';

export type AdminTokenState = { readonly status: 'unknown' | 'active' | 'revoked' };

/** What is stored of a secret. */
export type IssuedSecret = {
  readonly tokenHash: string;
  /** Id of the user on whose behalf the token acts. */
  readonly issuedBy: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
};

export type AdminTokenCommand =
  | {
      readonly kind: 'create';
      readonly tokenId: string;
      readonly settings: { readonly name: string; readonly grants: readonly string[] };
      readonly secret: IssuedSecret;
    }
  | { readonly kind: 'rotate'; readonly secret: IssuedSecret }
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
  if (command.kind === 'create') {
    const { tokenId, settings, secret } = command;
    const { name, grants } = settings;
    return [{ type: 'AdminTokenCreated', data: { token_id: tokenId, name, grants, ...issued(secret) } }];
  }
  if (status === 'unknown') throw refusal('admin_token_not_found');
  if (command.kind === 'revoke') return status === 'revoked' ? [] : [{ type: 'AdminTokenRevoked', data: {} }];
  if (status === 'revoked') throw refusal('admin_token_revoked');
  return [{ type: 'AdminTokenRotated', data: issued(command.secret) }];
}

function issued({
  tokenHash,
  issuedBy,
  issuedAt,
  expiresAt,
}: IssuedSecret): EventData<AdminTokenEvent, 'AdminTokenRotated'> {
  return {
    token_hash: tokenHash,
    issued_by: issuedBy,
    issued_at: issuedAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  };
}
