import { TENANT_SLUG } from '../stream.ts';
import { areRoleNames, distinctRoles, hasAdminRole } from './roles.ts';

/** Tokens that an external issuer made for `audience` act in `tenant` with `roles`. */
export type TrustedIssuerPolicy = {
  /** Base URL without a trailing slash. */
  readonly issuer: string;
  readonly audience: string;
  readonly tenant: string;
  readonly roles: readonly string[];
};

const MEMBERS = ['issuer', 'audience', 'tenant', 'roles'];
const MAX_AUDIENCE = 1_000;

/** Normalises an issuer URL: removes trailing slashes. */
export function issuerName(url: string): string {
  return url.replace(/\/+$/, '');
}

/**
 * Parses `TRUSTED_ISSUER_POLICIES`. A policy with an admin role is refused: an external issuer must not create admins,
 * because access rules do not apply to them.
 * @returns the policies, or the problem of the first invalid policy in words for the operator
 */
export function parseTrustedIssuerPolicies(
  text: string,
): { readonly policies: readonly TrustedIssuerPolicy[] } | { readonly problem: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  if (!Array.isArray(parsed)) return { problem: 'set it to a JSON array of {"issuer", "audience", "tenant", "roles"}' };
  const policies: TrustedIssuerPolicy[] = [];
  for (const [n, value] of parsed.entries()) {
    const policy = policyOf(value);
    if (typeof policy === 'string') return { problem: `policy ${n + 1}: ${policy}` };
    const repeated = policies.some(({ issuer, audience }) => issuer === policy.issuer && audience === policy.audience);
    if (repeated) return { problem: `policy ${n + 1}: an earlier one has the same issuer and audience` };
    policies.push(policy);
  }
  return { policies };
}

function policyOf(value: unknown): TrustedIssuerPolicy | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it must be an object';
  const { issuer, audience, tenant, roles } = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(value).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) return `it may contain ${MEMBERS.join(', ')} only`;
  if (typeof issuer !== 'string' || issuer === '') return 'issuer is required';
  if (typeof audience !== 'string' || audience === '' || audience.length > MAX_AUDIENCE)
    return 'audience is required: tokens that the issuer made for others must not be taken';
  if (typeof tenant !== 'string' || !TENANT_SLUG.test(tenant)) return 'tenant must be the slug of a tenant';
  if (!isTextList(roles) || roles.length === 0 || !areRoleNames(roles)) return 'roles must be a list of role names';
  if (hasAdminRole(roles)) return 'roles must not name admin or super_admin';
  return { issuer: issuerName(issuer), audience, tenant, roles: distinctRoles(roles) };
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((member) => typeof member === 'string');
}
