import type { FieldError } from '../errors.ts';
import { refusal } from '../errors.ts';
import { ROLE_NAME } from './principal.ts';

/** What a role may be allowed to do with entries of a content type (spec 4 A, access rules). */
export const ACCESS_ACTIONS = ['read', 'create', 'update', 'delete', 'publish'] as const;
export type AccessAction = (typeof ACCESS_ACTIONS)[number];

/** `*` as an action: all of them; as `schema_name`: every content type without a rule of its own. */
export const EVERYTHING = '*';

/** What a rule says. */
export type AccessRule = {
  readonly role: string;
  /** Name of a content type, or `*`. */
  readonly schema_name: string;
  /** Empty: allows nothing, where the `*` rule of the role would. */
  readonly actions: readonly (AccessAction | typeof EVERYTHING)[];
  /** Names of fields hidden from reads and refused in writes. */
  readonly field_mask: readonly string[];
};

/** The one rule that every tenant begins with (spec 4 A, access rules). */
export const FIRST_RULE: AccessRule = { role: 'editor', schema_name: EVERYTHING, actions: [EVERYTHING], field_mask: [] };

const NAME = /^[a-z][a-z0-9_]{0,62}$/;
const KNOWN_ACTIONS: ReadonlySet<string> = new Set([...ACCESS_ACTIONS, EVERYTHING]);

/**
 * Checks a rule and drops repeats. A content type of that name need not exist yet.
 * @throws `validation_failed` with `fields`
 */
export function checkAccessRule({ role, schema_name, actions, field_mask }: { readonly role: string; readonly schema_name: string; readonly actions: readonly string[]; readonly field_mask: readonly string[] }): AccessRule {
  const fields: FieldError[] = [];
  if (!ROLE_NAME.test(role)) fields.push({ field: 'role', message: 'role must be 1 to 64 letters, digits or _ . : -' });
  if (schema_name !== EVERYTHING && !NAME.test(schema_name)) fields.push({ field: 'schema_name', message: 'must be the name of a content type or *' });
  if (!actions.every(isAction)) fields.push({ field: 'actions', message: `must be of ${[...KNOWN_ACTIONS].join(', ')}` });
  if (!field_mask.every((name) => NAME.test(name))) fields.push({ field: 'field_mask', message: 'must be names of fields' });
  if (fields.length > 0) throw refusal('validation_failed', { fields });
  return { role, schema_name, actions: [...new Set(actions.filter(isAction))], field_mask: [...new Set(field_mask)] };
}

function isAction(action: string): action is AccessRule['actions'][number] {
  return KNOWN_ACTIONS.has(action);
}
