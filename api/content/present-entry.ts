import type { ContentType } from '../../domain/content/content-type.ts';
import { shownValue, storedFields } from '../../domain/content/entry-fields.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { SLUG_KEY } from '../../domain/content/entry-title.ts';
import type { Actor } from '../../domain/event.ts';
import type { Json, JsonObject } from '../../domain/json.ts';

/**
 * An entry as the Content API shows it. The SQL of `projections/content/entries/entry-json.ts` makes the same members.
 */
export function presentEntry({
  type,
  entry,
  hidden,
  fields,
}: {
  readonly type: ContentType;
  readonly entry: EntryState;
  readonly hidden: ReadonlySet<string>;
  readonly fields?: readonly string[] | undefined;
}): JsonObject {
  const drafts = type.definition.with_draft_publish === true;
  const shown = storedFields(type.definition).filter(({ key }) => !hidden.has(key) && (fields?.includes(key) ?? true));
  return {
    id: entry.id,
    schema_name: type.name,
    ...(entry.slug === undefined || hidden.has(SLUG_KEY) ? {} : { slug: entry.slug }),
    ...(drafts ? { status: entry.status } : {}),
    data: Object.fromEntries(shown.map((field): [string, Json] => [field.key, shownValue(field, entry.fields)])),
    version: entry.version,
    created_at: entry.createdAt,
    updated_at: entry.updatedAt,
    ...(drafts ? { published_at: entry.publishedAt ?? null } : {}),
    created_by: presentActor(entry.createdBy),
    updated_by: presentActor(entry.updatedBy),
  };
}

/** What a writer learns about an entry that it may not read: the outcome of the write. */
export function presentReceipt({ definition }: ContentType, { id, version, status }: EntryState): JsonObject {
  return { id, version, ...(definition.with_draft_publish === true ? { status } : {}) };
}

/** An actor as both APIs show it: its kind and id only. */
export function presentActor({ kind, id }: Actor): JsonObject {
  return { kind, id };
}
