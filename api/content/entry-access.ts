import { contentAccess } from '../../application/content/content-access.ts';
import type { ContentAccess, ContentAccessDependencies } from '../../application/content/content-access.ts';
import type { EntryDependencies } from '../../application/content/run-entry-command.ts';
import type { AccessAction } from '../../application/ports/access-rules.ts';
import { uuidPattern } from '../../domain/content/patterns.ts';
import { refusal } from '../../domain/errors.ts';
import type { EntryReads } from '../../projections/content/entries/get-entry.ts';
import type { EntryList } from '../../projections/content/entries/list-entries.ts';
import type { Past } from '../../projections/content/entries/past.ts';
import type { RelatedList } from '../../projections/content/entries/list-related.ts';
import type { RouteRequest } from '../http/route.ts';

/** What the routes of entries need. `rows` is `reads` as commands see it. */
export type EntryRouteDependencies = EntryDependencies & ContentAccessDependencies & { readonly reads: EntryReads; readonly lists: EntryList; readonly listRelated: RelatedList; readonly past: Past };

/** Read models that answers about entries come from. */
export const READS = ['content'] as const;

/** Whether the caller may act on the schema of the path over REST. @throws the refusals of `contentAccess` */
export async function requireAccess(
  { params, principal, tenant }: Pick<RouteRequest<{ readonly schema: string }, unknown, unknown>, 'params' | 'principal' | 'tenant'>,
  action: AccessAction,
  dependencies: ContentAccessDependencies,
): Promise<ContentAccess> {
  if (!principal) throw refusal('authentication_required');
  return contentAccess({ principal, tenant, schema: params.schema, action, transport: 'rest' }, dependencies);
}

/** @throws `entry_not_found` for an id that is no UUID */
export function requireEntryId(id: string): string {
  if (!uuidPattern.test(id)) throw refusal('entry_not_found');
  return id.toLowerCase();
}
