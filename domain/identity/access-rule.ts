import { type FieldError, refusal } from '../errors.ts';
import { ROLE_NAME, ROLE_NAME_PROBLEM } from './principal.ts';

/** Actions that a rule can allow on the entries of a content type. */
export const ACCESS_ACTIONS = ['read', 'create', 'update', 'delete', 'publish'] as const;
export type AccessAction = (typeof ACCESS_ACTIONS)[number];

/** As an action: all actions. As `schema_name`: every content type without its own rule for the role. */
export const WILDCARD = '*';

export type AccessRule = {
  readonly role: string;
  /** Name of a content type, or `*`. */
  readonly schema_name: string;
  /** Empty: the role may do nothing with the content type, even if its `*` rule would allow it. */
  readonly actions: readonly (AccessAction | typeof WILDCARD)[];
  /** Field mask: names of fields hidden from reads and refused in writes. */
  readonly field_mask: readonly string[];
};

/** The rule that every new tenant gets. */
export const DEFAULT_ACCESS_RULE: AccessRule = {
  role: 'editor',
  schema_name: WILDCARD,
  actions: [WILDCARD],
  field_mask: [],
};

const NAME = /^[a-z][a-z0-9_]{0,62}$/;
const KNOWN_ACTIONS: ReadonlySet<string> = new Set([...ACCESS_ACTIONS, WILDCARD]);

/**
 * Checks a rule and drops repeated actions and fields. The content type need not exist yet.
 * @throws `validation_failed` with `fields`
 */
export function checkAccessRule({
  role,
  schema_name,
  actions,
  field_mask,
}: {
  readonly role: string;
  readonly schema_name: string;
  readonly actions: readonly string[];
  readonly field_mask: readonly string[];
}): AccessRule {
  const fields: FieldError[] = [];
  if (!ROLE_NAME.test(role)) fields.push({ field: 'role', message: ROLE_NAME_PROBLEM });
  if (schema_name !== WILDCARD && !NAME.test(schema_name))
    fields.push({ field: 'schema_name', message: 'must be the name of a content type or *' });
  if (!actions.every(isAction))
    fields.push({ field: 'actions', message: `must be of ${[...KNOWN_ACTIONS].join(', ')}` });
  if (!field_mask.every((name) => NAME.test(name)))
    fields.push({ field: 'field_mask', message: 'must be names of fields' });
  if (fields.length > 0) throw refusal('validation_failed', { fields });
  return { role, schema_name, actions: [...new Set(actions.filter(isAction))], field_mask: [...new Set(field_mask)] };
}

function isAction(action: string): action is AccessRule['actions'][number] {
  return KNOWN_ACTIONS.has(action);
}
