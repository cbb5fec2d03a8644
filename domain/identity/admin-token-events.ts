import type { DomainEvent } from '../event.ts';
import type { JsonObject } from '../json.ts';

/** What an event says of a token's secret, which is in none of them: `token_hash` is its HMAC. */
type Issued = {
  readonly token_hash: string;
  /** Id of the user who made this secret and answers for what it does. */
  readonly issued_by: string;
  /** RFC 3339. */
  readonly issued_at: string;
  /** RFC 3339. */
  readonly expires_at: string;
};

/** Events of an admin token, stream `admin_token-<tenant>.<token id>`. */
export type AdminTokenEvent =
  | DomainEvent<'AdminTokenCreated', Issued & { readonly token_id: string; readonly name: string; readonly grants: readonly string[] }>
  /** Another secret in place of the one before, which ends here. */
  | DomainEvent<'AdminTokenRotated', Issued>
  | DomainEvent<'AdminTokenRevoked', Readonly<Record<string, never>>>;

export const ADMIN_TOKEN_EVENT_TYPES: ReadonlySet<string> = new Set<AdminTokenEvent['type']>(['AdminTokenCreated', 'AdminTokenRotated', 'AdminTokenRevoked']);

/** Narrows a stored event. @throws TypeError for a type that is no event of an admin token */
export function parseAdminTokenEvent(event: { readonly type: string; readonly data: JsonObject }): AdminTokenEvent {
  if (!ADMIN_TOKEN_EVENT_TYPES.has(event.type)) throw new TypeError(`no event of an admin token: ${event.type}`);
  return { type: event.type, data: event.data } as AdminTokenEvent;
}
