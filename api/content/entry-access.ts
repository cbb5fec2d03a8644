import {
  type ContentAccess,
  type ContentAccessDependencies,
  contentAccess,
} from '../../application/content/content-access.ts';
import type { EntryDependencies } from '../../application/content/run-entry-command.ts';
import type { AccessAction } from '../../application/ports/access-rules.ts';
import { refusal } from '../../domain/errors.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import { UUID_PATTERN } from '../../domain/uuid.ts';
import type { EntryList } from '../../projections/content/entries/entry-list.ts';
import type { EntryReads } from '../../projections/content/entries/entry-reads.ts';
import type { PastReader } from '../../projections/content/entries/past-reader.ts';
import type { RelatedList } from '../../projections/content/entries/related-list.ts';
import { expectedVersions } from '../http/entity-tags.ts';
import type { RouteRequest } from '../http/route.ts';
import type { CursorSigner } from './cursor.ts';

/** What the routes of entries need. */
export type EntryRouteDependencies = EntryDependencies &
  ContentAccessDependencies & {
    readonly reads: EntryReads;
    readonly lists: EntryList;
    readonly listRelated: RelatedList;
    readonly past: PastReader;
    readonly signCursor: CursorSigner;
    /** Largest JSON text of a response in bytes. Default: 16 MiB. */
    readonly maxResponseBytes?: number;
  };

/** The caller, and what it may do with the content type that its request names. */
export type CallerAccess = ContentAccess & { readonly principal: Principal };

/** The entry that a request names, and what the caller may do with its content type. */
export type EntryAccess = { readonly id: string; readonly access: ContentAccess };

/** Read models that the responses about entries come from. */
export const READS = ['content'] as const;

type Caller<Params> = Pick<RouteRequest<Params, unknown, unknown>, 'params' | 'principal' | 'tenant'>;

/**
 * Checks that the caller may act over REST on the content type named in the path.
 * @throws the refusals of `contentAccess`
 */
export async function requireAccess(
  { params, principal, tenant }: Caller<{ readonly schema: string }>,
  action: AccessAction,
  dependencies: ContentAccessDependencies,
): Promise<CallerAccess> {
  if (!principal) throw refusal('authentication_required');
  const question = { principal, tenant, schema: params.schema, action, transport: 'rest' } as const;
  return { ...(await contentAccess(question, dependencies)), principal };
}

/**
 * Checks access as `requireAccess` does, then the id in the path.
 * @throws `entry_not_found` for an id that is not a UUID
 */
export async function requireEntry(
  request: Caller<{ readonly schema: string; readonly id: string }>,
  action: AccessAction,
  dependencies: ContentAccessDependencies,
): Promise<EntryAccess> {
  const access = await requireAccess(request, action, dependencies);
  return { id: requireEntryId(request.params.id), access };
}

/** The id in lower case. @throws `entry_not_found` for an id that is not a UUID */
export function requireEntryId(id: string): string {
  if (!UUID_PATTERN.test(id)) throw refusal('entry_not_found');
  return id.toLowerCase();
}

/** What every command on an existing entry takes: its type, its id and the versions that `If-Match` names. */
export function onEntry(
  { id, access: { type } }: EntryAccess,
  { header }: Pick<RouteRequest<unknown, unknown, unknown>, 'header'>,
) {
  return { type, id, versions: expectedVersions(header('if-match')) };
}
