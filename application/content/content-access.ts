import type { ContentType } from '../../domain/content/content-type.ts';
import type { Transports } from '../../domain/content/definition.ts';
import { keyOf } from '../../domain/content/entry-fields.ts';
import { SLUG_KEY, titleField } from '../../domain/content/entry-title.ts';
import { refusal } from '../../domain/errors.ts';
import { type Principal, holdsRole } from '../../domain/identity/principal.ts';
import { CONTENT_WRITERS } from '../../domain/identity/roles.ts';
import { scopeAllows } from '../../domain/identity/scopes.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { AccessAction, AccessRules } from '../ports/access-rules.ts';
import type { ContentTypeDirectory } from '../ports/content-type-directory.ts';

export type ContentAccessDependencies = { readonly types: ContentTypeDirectory; readonly accessRules: AccessRules };

export type ContentAccessQuestion = {
  readonly principal: Principal;
  readonly tenant: string;
  readonly schema: string;
  readonly action: AccessAction;
  /** Undefined for the console: transports do not restrict it. */
  readonly transport: keyof Transports | undefined;
};

/** The content type, and the fields that the caller may not see or write. */
export type ContentAccess = {
  readonly type: ContentType;
  /**
   * Names of the fields hidden from the caller. A belongs_to is listed under its name and its key. When the field of
   * the title is hidden, the slug (`SLUG_KEY`) is hidden too.
   */
  readonly hidden: ReadonlySet<string>;
  /** Names of the fields that this action may not write, in the form of `hidden`. */
  readonly locked: ReadonlySet<string>;
  /** Whether the caller may also read entries of the type here. The response to a write shows an entry only then. */
  readonly readable: boolean;
  /** The caller may see soft-deleted entries, because it holds an admin role. */
  readonly seesDeleted: boolean;
};

const ADMINS = ['admin', 'super_admin'] as const;
const NOTHING: ReadonlySet<string> = new Set();

/**
 * Checks whether a credential may act on a content type, in this order: the key's list of types, the role, whether the
 * type exists, its transports, the access rules. Scopes are checked before.
 * @throws `schema_not_allowed`, `insufficient_permissions`, `schema_not_found`, `schema_read_only`,
 *   `schema_write_only`, `permission_denied`
 */
export async function contentAccess(
  question: ContentAccessQuestion,
  { types, accessRules }: ContentAccessDependencies,
): Promise<ContentAccess> {
  const { principal, tenant, schema, action, transport } = question;
  const writes = action !== 'read';
  if (principal.kind === 'api_key' && principal.schemas.length > 0 && !principal.schemas.includes(schema))
    throw refusal('schema_not_allowed');
  requireWriter(principal, action);
  const type = await types.get(tenant, schema);
  const mode = (transport && type?.definition.transports?.[transport]) ?? 'rw';
  if (!type || mode === 'off') throw refusal('schema_not_found');
  if (writes && mode === 'r') throw refusal('schema_read_only');
  if (!writes && mode === 'w') throw refusal('schema_write_only');
  const requested = { tenant, roles: principal.roles, schema };
  const { allowed, maskedFields } = accessRules.decide({ ...requested, action });
  if (!allowed) throw refusal('permission_denied');
  const read = writes ? accessRules.decide({ ...requested, action: 'read' }) : undefined;
  const locked = namesOf(type, maskedFields);
  return {
    type,
    locked,
    readable: !writes || (read?.allowed === true && mode !== 'w' && credentialReads(principal)),
    seesDeleted: holdsRole(principal, ADMINS),
    hidden: read?.allowed === true ? new Set([...locked, ...namesOf(type, read.maskedFields)]) : locked,
  };
}

/** Whether scopes or grants of the credential, where it has any, open the routes that read entries. */
function credentialReads(principal: Principal): boolean {
  if (principal.kind === 'admin_token') return principal.grants.includes('content:read');
  return principal.kind !== 'api_key' || scopeAllows(principal, 'GET', '/api/v1/content');
}

/** @throws `insufficient_permissions` for a write by a caller without a role that writes content */
export function requireWriter(principal: Principal, action: AccessAction): void {
  if (action !== 'read' && !holdsRole(principal, CONTENT_WRITERS)) throw refusal('insufficient_permissions');
}

/** The types that the caller may read, each with the names of its hidden fields. */
export function readableTypes<T extends ContentType>(
  types: readonly T[],
  { tenant, roles }: Pick<Principal, 'tenant' | 'roles'>,
  { accessRules }: Pick<ContentAccessDependencies, 'accessRules'>,
): readonly { readonly type: T; readonly hidden: ReadonlySet<string> }[] {
  return types.flatMap((type) => {
    const { allowed, maskedFields } = accessRules.decide({ tenant, roles, schema: type.name, action: 'read' });
    return allowed ? [{ type, hidden: namesOf(type, maskedFields) }] : [];
  });
}

/** @throws `permission_denied` when a slug is given although the access rules mask the field of the title */
export function refuseLockedSlug({ locked }: Pick<ContentAccess, 'locked'>, slug: string | undefined): void {
  if (slug !== undefined && locked.has(SLUG_KEY)) throw refusal('permission_denied');
}

/** @throws `permission_denied` when `data` names a field that the access rules mask */
export function refuseLockedFields({ locked }: Pick<ContentAccess, 'locked'>, data: JsonObject): void {
  if (locked.size > 0 && Object.keys(data).some((name) => locked.has(name))) throw refusal('permission_denied');
}

function namesOf(type: ContentType, masked: ReadonlySet<string>): ReadonlySet<string> {
  if (masked.size === 0) return NOTHING;
  const fields = type.definition.fields.filter((field) => masked.has(field.name) || masked.has(keyOf(field)));
  const names = fields.flatMap((field) => [field.name, keyOf(field)]);
  const title = titleField(type.definition);
  // The slug is made from the title, so it would show a masked title.
  return new Set(title !== undefined && fields.includes(title) ? [...names, SLUG_KEY] : names);
}
