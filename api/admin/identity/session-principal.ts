import { refusal } from '../../../domain/errors.ts';
import type { Principal } from '../../../domain/identity/principal.ts';

/** The caller's session. @throws `session_required` for any other credential */
export function sessionPrincipal(principal: Principal | undefined): Extract<Principal, { kind: 'session' }> {
  if (principal?.kind !== 'session') throw refusal('session_required');
  return principal;
}
