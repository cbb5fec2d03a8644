import { type AccessRule, WILDCARD } from '../../domain/identity/access-rule.ts';
import { hasAdminRole } from '../../domain/identity/roles.ts';
import type { AccessDecision, AccessQuestion } from '../ports/access-rules.ts';

/** Answers access questions by the rules of one tenant. */
export type CompiledAccessRules = (question: Omit<AccessQuestion, 'tenant'>) => AccessDecision;

type CompiledRule = { readonly allows: ReadonlySet<string>; readonly decision: AccessDecision };

const NO_MASK: ReadonlySet<string> = new Set();
const ALLOWED: AccessDecision = { allowed: true, maskedFields: NO_MASK };
export const REFUSED: AccessDecision = { allowed: false, maskedFields: NO_MASK };

/**
 * Compiles a tenant's rules. `super_admin` and `admin` may do everything. A role's rule for a content type replaces its
 * `*` rule. The rights of several roles add up; a field is masked only when every role that allows the action masks it.
 */
export function compileAccessRules(rules: readonly AccessRule[]): CompiledAccessRules {
  const byRole = new Map<string, Map<string, CompiledRule>>();
  for (const rule of rules) {
    const ofRole = byRole.get(rule.role) ?? new Map<string, CompiledRule>();
    byRole.set(rule.role, ofRole.set(rule.schema_name, compile(rule)));
  }
  return ({ roles, schema, action }) => {
    if (hasAdminRole(roles)) return ALLOWED;
    let found: AccessDecision | undefined;
    for (const role of roles) {
      const ofRole = byRole.get(role);
      const rule = ofRole?.get(schema) ?? ofRole?.get(WILDCARD);
      if (!rule || !(rule.allows.has(action) || rule.allows.has(WILDCARD))) continue;
      found = found === undefined ? rule.decision : allowedByBoth(found, rule.decision);
    }
    return found ?? REFUSED;
  };
}

function compile({ actions, field_mask }: AccessRule): CompiledRule {
  return {
    allows: new Set(actions),
    decision: field_mask.length === 0 ? ALLOWED : { allowed: true, maskedFields: new Set(field_mask) },
  };
}

function allowedByBoth(a: AccessDecision, b: AccessDecision): AccessDecision {
  const maskedFields = new Set([...a.maskedFields].filter((name) => b.maskedFields.has(name)));
  return { allowed: true, maskedFields };
}
