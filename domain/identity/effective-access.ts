import type { AccessAction, AccessRule } from './access-rule.ts';
import { ACCESS_ACTIONS, EVERYTHING } from './access-rule.ts';
import { CONTENT_WRITERS, hasAdminRole } from './roles.ts';
import { scopeAllows } from './scopes.ts';

/** Whose rights are asked for. A person has neither scopes nor a list of content types. */
export type AccessSubject = {
  readonly roles: readonly string[];
  readonly scopes?: readonly string[];
  /** Content types that a key is held to; empty: every one. */
  readonly schemas?: readonly string[];
};

/** What may be done with a content type, `*` standing for every one that is not listed. Actions with different masks stand apart. */
export type EffectiveAccess = { readonly schema_name: string; readonly actions: readonly AccessAction[]; readonly field_mask: readonly string[] };

/** How the Content API is called for an action. */
const METHODS = { read: 'GET', create: 'POST', update: 'PUT', publish: 'PUT', delete: 'DELETE' } as const satisfies Record<AccessAction, string>;

/**
 * Everything that stands between a subject and entries, taken together: roles that write, scopes, a key's list of content types, access rules
 * (spec 1, API key checks; spec 4 A, access rules). `decide` answers for the rules. A content type with a rule of its own that allows nothing is listed
 * with no action.
 */
export function effectiveAccess(
  { roles, scopes, schemas = [] }: AccessSubject,
  rules: readonly AccessRule[],
  decide: (schema: string, action: AccessAction) => { readonly allowed: boolean; readonly maskedFields: ReadonlySet<string> },
): readonly EffectiveAccess[] {
  const named = hasAdminRole(roles) ? [] : rules.filter(({ role }) => roles.includes(role)).map(({ schema_name }) => schema_name);
  const names = schemas.length > 0 ? schemas : [EVERYTHING, ...named];
  return [...new Set(names)].toSorted().flatMap((name) => {
    const byMask = new Map<string, EffectiveAccess>();
    for (const action of ACCESS_ACTIONS.filter(isOpen)) {
      const { allowed, maskedFields } = decide(name, action);
      if (!allowed) continue;
      const field_mask = [...maskedFields].toSorted();
      const key = field_mask.join();
      byMask.set(key, { schema_name: name, actions: [...(byMask.get(key)?.actions ?? []), action], field_mask });
    }
    if (byMask.size === 0 && name !== EVERYTHING) return [{ schema_name: name, actions: [], field_mask: [] }];
    return [...byMask.values()];
  });

  function isOpen(action: AccessAction): boolean {
    if (action !== 'read' && !roles.some((role) => CONTENT_WRITERS.includes(role))) return false;
    return scopes === undefined || scopeAllows({ roles, scopes }, METHODS[action], '/api/v1/content/any');
  }
}
