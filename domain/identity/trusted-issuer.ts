import { TENANT_SLUG } from '../stream.ts';
import { areRoleNames, distinctRoles, hasAdminRole } from './roles.ts';

/** What the tokens of an outside issuer may do here (spec 4 A, sign-in details): those for `audience` act in `tenant` with `roles`. */
export type TrustedIssuerPolicy = {
  /** Base URL without a slash at its end. */
  readonly issuer: string;
  readonly audience: string;
  readonly tenant: string;
  readonly roles: readonly string[];
};

const MEMBERS = ['issuer', 'audience', 'tenant', 'roles'];
const MAX_AUDIENCE = 1_000;

/** An issuer as it is compared: those that differ in a slash at the end are one. */
export function issuerName(url: string): string {
  return url.replace(/\/+$/, '');
}

/**
 * Reads `TRUSTED_ISSUER_POLICIES`. Nobody outside makes admins: `admin` and `super_admin` pass without rules, so a policy that names one is
 * refused, as keys with these roles need an end and magic links never give them.
 * @returns what is wrong with the first policy that is none, in words for the operator
 */
export function parseTrustedIssuerPolicies(text: string): { readonly policies: readonly TrustedIssuerPolicy[] } | { readonly problem: string } {
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
    const again = policies.some(({ issuer, audience }) => issuer === policy.issuer && audience === policy.audience);
    if (again) return { problem: `policy ${n + 1}: an earlier one has the same issuer and audience` };
    policies.push(policy);
  }
  return { policies };
}

function policyOf(value: unknown): TrustedIssuerPolicy | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it must be an object';
  const { issuer, audience, tenant, roles } = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(value).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) return `it may hold ${MEMBERS.join(', ')} only`;
  if (typeof issuer !== 'string' || issuer === '') return 'issuer is required';
  if (typeof audience !== 'string' || audience === '' || audience.length > MAX_AUDIENCE) return 'audience is required: tokens that the issuer made for others must not be taken';
  if (typeof tenant !== 'string' || !TENANT_SLUG.test(tenant)) return 'tenant must be the slug of a tenant';
  if (!isTextList(roles) || roles.length === 0 || !areRoleNames(roles)) return 'roles must be a list of role names';
  if (hasAdminRole(roles)) return 'roles must not name admin or super_admin';
  return { issuer: issuerName(issuer), audience, tenant, roles: distinctRoles(roles) };
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((member) => typeof member === 'string');
}
