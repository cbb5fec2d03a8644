import type { ContentAccess } from '../../../application/content/content-access.ts';
import { localize } from '../../../application/content/localize.ts';
import type { EntryOutcome } from '../../../application/content/run-entry-command.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import { titleOf } from '../../../domain/content/entry-title.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { entityTag } from '../../content/entity-tag.ts';
import { presentEntry } from '../../content/present-entry.ts';
import type { Answer } from '../../http/route.ts';

/** What else the console shows of an entry. */
export type AdminEntryFacts = {
  readonly deletedAt?: string | undefined;
  /** The locale that was asked for. */
  readonly locale?: string | undefined;
};

/** An entry as the console shows it: as the Content API does, with title and slug (spec 4 A, admin content). */
export function presentAdminEntry({ type, hidden }: Pick<ContentAccess, 'type' | 'hidden'>, entry: EntryState, { deletedAt, locale }: AdminEntryFacts = {}): JsonObject {
  const localized = localize(type, locale);
  return {
    ...presentEntry(type, entry, hidden),
    title: titleOf(type.definition, entry.fields, hidden) ?? null,
    slug: entry.slug ?? null,
    ...(deletedAt === undefined ? {} : { deleted_at: deletedAt }),
    ...(localized === undefined ? {} : { resolved_locale: localized.resolvedLocale }),
  };
}

/** An entry after a command. */
export function adminEntryAnswer(status: number, access: ContentAccess, { entry, position }: EntryOutcome): Answer {
  const answer = { status, body: presentAdminEntry(access, entry), headers: { ETag: entityTag(entry.version) } };
  return position === undefined ? answer : { ...answer, commit: { position, readModels: ['content'] } };
}
