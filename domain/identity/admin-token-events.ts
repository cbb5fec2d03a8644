import { eventParser } from '../event-parser.ts';
import type { DomainEvent } from '../event.ts';

/** Members of the events that issue a secret. The secret is in no event; `token_hash` is its HMAC. */
type Issued = {
  readonly token_hash: string;
  /** Id of the user who issued this secret. The token acts on this user's behalf. */
  readonly issued_by: string;
  /** RFC 3339. */
  readonly issued_at: string;
  /** RFC 3339. */
  readonly expires_at: string;
};

/** Events of an admin token, stream `admin_token-<tenant>.<token id>`. */
export type AdminTokenEvent =
  | DomainEvent<
      'AdminTokenCreated',
      Issued & { readonly token_id: string; readonly name: string; readonly grants: readonly string[] }
    >
  /** A new secret replaces the previous one, which stops working at once. */
  | DomainEvent<'AdminTokenRotated', Issued>
  | DomainEvent<'AdminTokenRevoked', Readonly<Record<string, never>>>;

export const adminTokenEvents = eventParser<AdminTokenEvent>('admin token', [
  'AdminTokenCreated',
  'AdminTokenRotated',
  'AdminTokenRevoked',
]);
