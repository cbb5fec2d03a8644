import type { ContentAccess } from '../../../application/content/content-access.ts';
import { localize } from '../../../application/content/localize.ts';
import type { EntryOutcome } from '../../../application/content/run-entry-command.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import { SLUG_KEY, titleOf } from '../../../domain/content/entry-title.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { presentEntry, presentReceipt } from '../../content/present-entry.ts';
import { commitAt } from '../../http/commit.ts';
import { entityTag } from '../../http/entity-tags.ts';
import type { RouteResponse } from '../../http/route.ts';

/** What the console shows of an entry beside its state. */
export type AdminEntryDetails = {
  /** When soft delete removed the entry: RFC 3339, UTC. */
  readonly deletedAt?: string | undefined;
  /** The locale that the caller requested. */
  readonly locale?: string | undefined;
};

/** An entry as the Content API shows it, with its title and slug; these are null when hidden from the caller. */
export function presentAdminEntry(
  { type, hidden }: Pick<ContentAccess, 'type' | 'hidden'>,
  entry: EntryState,
  { deletedAt, locale }: AdminEntryDetails = {},
): JsonObject {
  const localized = localize(type, locale);
  return {
    ...presentEntry({ type, entry, hidden }),
    title: titleOf(type.definition, entry.fields, hidden) ?? null,
    slug: hidden.has(SLUG_KEY) ? null : (entry.slug ?? null),
    ...(deletedAt === undefined ? {} : { deleted_at: deletedAt }),
    ...(localized === undefined ? {} : { resolved_locale: localized.resolvedLocale }),
  };
}

/** The response with an entry, from the state that its command returned, without reading it again. */
export function adminEntryResponse(
  status: number,
  access: ContentAccess,
  { entry, position }: EntryOutcome,
): RouteResponse {
  return {
    status,
    body: access.readable ? presentAdminEntry(access, entry) : presentReceipt(access.type, entry),
    headers: { ETag: entityTag(entry.version) },
    ...commitAt(position, ['content']),
  };
}
