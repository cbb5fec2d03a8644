import type { AccessDecision, AccessRules } from '../ports/access-rules.ts';

const NO_MASK: ReadonlySet<string> = new Set();
const ALLOWED: AccessDecision = { allowed: true, maskedFields: NO_MASK };
const REFUSED: AccessDecision = { allowed: false, maskedFields: NO_MASK };
const PASSING: ReadonlySet<string> = new Set(['super_admin', 'admin', 'editor']);

/**
 * The rules of a tenant that has changed none: super_admin and admin pass without rules, `editor` holds `*` on `*` (spec 4 A, access rules);
 * a credential without a role reads nothing.
 */
export const defaultAccessRules: AccessRules = {
  decide: ({ roles }) => (roles.some((role) => PASSING.has(role)) ? ALLOWED : REFUSED),
};
