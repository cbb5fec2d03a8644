import { ACCESS_ACTIONS, type AccessAction, type AccessRule, WILDCARD } from './access-rule.ts';
import { CONTENT_WRITERS, hasAdminRole } from './roles.ts';
import { scopeAllows } from './scopes.ts';

/** The rights of a role, a user or an API key. Only API keys have scopes and a list of content types. */
export type AccessSubject = {
  readonly roles: readonly string[];
  readonly scopes?: readonly string[];
  /** Content types that an API key may use; empty means all. */
  readonly schemas?: readonly string[];
};

/**
 * Actions allowed on a content type; `*` means every content type that is not listed. Actions with different field
 * masks are separate items.
 */
export type EffectiveAccess = {
  readonly schema_name: string;
  readonly actions: readonly AccessAction[];
  readonly field_mask: readonly string[];
};

/** The HTTP method of each action on the Content API. */
const METHODS = {
  read: 'GET',
  create: 'POST',
  update: 'PUT',
  publish: 'PUT',
  delete: 'DELETE',
} as const satisfies Record<AccessAction, string>;

/**
 * The combined effect of writer roles, scopes, an API key's list of content types, and access rules. A content type
 * whose own rule allows nothing is listed without actions.
 * @param rules The access rules of the tenant; they name the content types to list.
 * @param decide Answers by the compiled access rules.
 */
export function effectiveAccess(
  { roles, scopes, schemas = [] }: AccessSubject,
  rules: readonly AccessRule[],
  decide: (
    schema: string,
    action: AccessAction,
  ) => { readonly allowed: boolean; readonly maskedFields: ReadonlySet<string> },
): readonly EffectiveAccess[] {
  const schemasOfRules = hasAdminRole(roles)
    ? []
    : rules.filter(({ role }) => roles.includes(role)).map(({ schema_name }) => schema_name);
  const names = schemas.length > 0 ? schemas : [WILDCARD, ...schemasOfRules];
  return [...new Set(names)].toSorted().flatMap((name) => {
    const byMask = new Map<string, EffectiveAccess>();
    for (const action of ACCESS_ACTIONS.filter(isOpen)) {
      const { allowed, maskedFields } = decide(name, action);
      if (!allowed) continue;
      const field_mask = [...maskedFields].toSorted();
      const key = field_mask.join();
      byMask.set(key, { schema_name: name, actions: [...(byMask.get(key)?.actions ?? []), action], field_mask });
    }
    if (byMask.size === 0 && name !== WILDCARD) return [{ schema_name: name, actions: [], field_mask: [] }];
    return [...byMask.values()];
  });

  function isOpen(action: AccessAction): boolean {
    if (action !== 'read' && !roles.some((role) => CONTENT_WRITERS.includes(role))) return false;
    return scopes === undefined || scopeAllows({ roles, scopes }, METHODS[action], '/api/v1/content/any');
  }
}
