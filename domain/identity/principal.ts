import type { AdminGrant } from './admin-grants.ts';

/** Form of role names: 1 to 64 letters, digits, `_ . : -`. */
export const ROLE_NAME = /^[A-Za-z0-9_.:-]{1,64}$/;
/** Message of the refusal of a name that does not match `ROLE_NAME`. */
export const ROLE_NAME_PROBLEM = 'role must be 1 to 64 letters, digits or _ . : -';

/** The authenticated caller of a request. */
export type Principal =
  | {
      readonly kind: 'session';
      readonly userId: string;
      readonly sessionId: string;
      readonly tenant: string;
      /** Roles in force in `tenant`, including `super_admin` if the user holds it. */
      readonly roles: readonly string[];
      /** How the token was sent; only cookies need a CSRF token. */
      readonly via: 'bearer' | 'cookie';
      readonly csrfToken: string;
    }
  | {
      readonly kind: 'api_key';
      readonly keyId: string;
      readonly tenant: string;
      readonly roles: readonly string[];
      /** Lower-case scopes. */
      readonly scopes: readonly string[];
      /** Content types that the key may use; empty means all. */
      readonly schemas: readonly string[];
      /** Requests per UTC calendar month; 0 means no limit. */
      readonly monthlyLimit: number;
    }
  | {
      /** An admin token: acts as `admin` in its tenant, only on routes that its grants open. */
      readonly kind: 'admin_token';
      readonly tokenId: string;
      readonly tenant: string;
      readonly roles: readonly ['admin'];
      readonly grants: readonly AdminGrant[];
    }
  | {
      /** A user of a trusted external issuer; on the Content API only. */
      readonly kind: 'external';
      /** Keyed digest of issuer and subject. */
      readonly subject: string;
      readonly tenant: string;
      /** Roles of the issuer's policy. */
      readonly roles: readonly string[];
    };

/** Whether the principal holds one of the roles. */
export function holdsRole(principal: Principal, roles: readonly string[]): boolean {
  return principal.roles.some((role) => roles.includes(role));
}
