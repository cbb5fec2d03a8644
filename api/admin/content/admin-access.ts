import type { CommentDependencies } from '../../../application/content/add-comment.ts';
import type { AdminEntryDependencies } from '../../../application/content/admin-entry-dependencies.ts';
import {
  type ContentAccess,
  type ContentAccessDependencies,
  contentAccess,
  requireWriter,
} from '../../../application/content/content-access.ts';
import { type TypeOfEntryDependencies, typeOfEntry } from '../../../application/content/type-of-entry.ts';
import type { AccessAction } from '../../../application/ports/access-rules.ts';
import type { Entitlements } from '../../../application/ports/entitlements.ts';
import type { StoredContentType } from '../../../domain/content/content-type.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Principal } from '../../../domain/identity/principal.ts';
import type { AdminEntryList } from '../../../projections/content/entries/admin-entry-list.ts';
import type { EntryReads } from '../../../projections/content/entries/entry-reads.ts';
import type { SlugQueries } from '../../../projections/content/entries/slug-queries.ts';
import { type EntryAccess, requireEntryId } from '../../content/entry-access.ts';
import type { RouteRequest } from '../../http/route.ts';

/** What the content routes of the console need. */
export type AdminContentRouteDependencies = AdminEntryDependencies &
  CommentDependencies &
  ContentAccessDependencies &
  TypeOfEntryDependencies & {
    readonly reads: EntryReads;
    readonly listAdminEntries: AdminEntryList;
    readonly entitlements: Entitlements;
    readonly slugs: SlugQueries;
    /** Every content type of the tenant, including those that were deleted with `content=soft`. */
    readonly typesOf: (tenant: string) => Promise<readonly StoredContentType[]>;
  };

type Caller = Pick<RouteRequest<unknown, unknown, unknown>, 'principal' | 'tenant'>;

/** The caller. @throws `authentication_required` without a credential */
export function requirePrincipal({ principal }: Caller): Principal {
  if (!principal) throw refusal('authentication_required');
  return principal;
}

/**
 * Checks that the caller may act on a content type in the console. The access rules apply; the type's `transports` do
 * not, because they restrict the Content API only.
 * @throws the refusals of `contentAccess`
 */
export function requireSchemaAccess(
  { caller, schema, action }: { readonly caller: Caller; readonly schema: string; readonly action: AccessAction },
  dependencies: ContentAccessDependencies,
): Promise<ContentAccess> {
  return contentAccess(
    { principal: requirePrincipal(caller), tenant: caller.tenant, schema, action, transport: undefined },
    dependencies,
  );
}

/**
 * Finds the content type of the entry that the path names and checks that the caller may act on it.
 * @throws `insufficient_permissions`, `entry_not_found`, `permission_denied`
 */
export async function requireEntryAccess(
  { params, ...caller }: Caller & { readonly params: { readonly id: string } },
  action: AccessAction,
  dependencies: ContentAccessDependencies & TypeOfEntryDependencies,
): Promise<EntryAccess> {
  requireWriter(requirePrincipal(caller), action);
  const id = requireEntryId(params.id);
  const type = await typeOfEntry({ tenant: caller.tenant, id }, dependencies);
  if (!type) throw refusal('entry_not_found');
  return { id, access: await requireSchemaAccess({ caller, schema: type.name, action }, dependencies) };
}
