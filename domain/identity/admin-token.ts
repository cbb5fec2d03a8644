import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { EventData } from '../event.ts';
import type { AdminTokenEvent } from './admin-token-events.ts';

type AdminToken = { readonly status: 'active' | 'revoked' };

/** Undefined before the first event. */
export type AdminTokenState = AdminToken | undefined;

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

type CommandOf<Kind extends AdminTokenCommand['kind']> = Extract<AdminTokenCommand, { readonly kind: Kind }>;

export const adminTokenDecider: Decider<AdminTokenState, AdminTokenCommand, AdminTokenEvent> = {
  initialState,
  decide,
  evolve,
};

function initialState(): AdminTokenState {
  return undefined;
}

/**
 * Revoking a revoked token changes nothing. An expired token can be rotated.
 * @throws `conflict` when the id of a new token is in use; `admin_token_not_found`, `admin_token_revoked`
 */
function decide(state: AdminTokenState, command: AdminTokenCommand): readonly AdminTokenEvent[] {
  switch (command.kind) {
    case 'create':
      if (state) throw refusal('conflict');
      return [created(command)];
    case 'rotate':
      if (existing(state).status === 'revoked') throw refusal('admin_token_revoked');
      return [{ type: 'AdminTokenRotated', data: issued(command.secret) }];
    case 'revoke':
      return existing(state).status === 'revoked' ? [] : [{ type: 'AdminTokenRevoked', data: {} }];
  }
}

function existing(state: AdminTokenState): AdminToken {
  if (!state) throw refusal('admin_token_not_found');
  return state;
}

function created({ tokenId, settings: { name, grants }, secret }: CommandOf<'create'>): AdminTokenEvent {
  return { type: 'AdminTokenCreated', data: { token_id: tokenId, name, grants, ...issued(secret) } };
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

function evolve(state: AdminTokenState, event: AdminTokenEvent): AdminTokenState {
  switch (event.type) {
    case 'AdminTokenCreated':
      return { status: 'active' };
    case 'AdminTokenRotated':
      return state;
    case 'AdminTokenRevoked':
      return state && { ...state, status: 'revoked' };
  }
}
