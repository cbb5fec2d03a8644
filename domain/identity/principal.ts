import type { AdminGrant } from './admin-grants.ts';

/** Built-in roles (spec 1). Any other name of the role grammar is a custom role. */
export const BUILT_IN_ROLES = ['super_admin', 'admin', 'editor'] as const;

/** Role names: 1 to 64 characters from letters, digits, `_ . : -` (spec 1). */
export const ROLE_NAME = /^[A-Za-z0-9_.:-]{1,64}$/;

/** Who makes a request, as the credential proved it. */
export type Principal =
  | {
      readonly kind: 'session';
      readonly userId: string;
      readonly sessionId: string;
      readonly tenant: string;
      /** Roles in force in `tenant`, `super_admin` included where the user holds it. */
      readonly roles: readonly string[];
      /** How it was sent; only cookies need a CSRF token. */
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
      /** Empty: every content type. */
      readonly schemas: readonly string[];
      /** Requests per UTC calendar month; 0 means no limit. */
      readonly monthlyLimit: number;
    }
  | {
      /** Acts as `admin` in its tenant on the routes that its grants open, never more (spec 4 A, admin tokens). */
      readonly kind: 'admin_token';
      readonly tokenId: string;
      readonly tenant: string;
      readonly roles: readonly ['admin'];
      readonly grants: readonly AdminGrant[];
    }
  | {
      /** Somebody of a trusted outside issuer; on the Content API only (spec 1, session rules). */
      readonly kind: 'external';
      /** Keyed digest of issuer and subject. */
      readonly subject: string;
      readonly tenant: string;
      /** Those of the issuer's policy. */
      readonly roles: readonly string[];
    };

/** Whether the principal holds one of the roles. */
export function holdsRole(principal: Principal, roles: readonly string[]): boolean {
  return principal.roles.some((role) => roles.includes(role));
}
