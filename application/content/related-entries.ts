import type { ContentType } from '../../domain/content/content-type.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import type { FieldValues } from '../../domain/content/events.ts';
import { parseEntryEvent } from '../../domain/content/parse-entry-event.ts';
import type { FieldError } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import { streamName } from '../../domain/stream.ts';
import type { ContentTypeCatalogue } from '../ports/content-type-catalogue.ts';
import type { EntryRows } from '../ports/entry-rows.ts';
import type { EventStore } from '../ports/event-store.ts';

export type RelatedDependencies = { readonly types: ContentTypeCatalogue; readonly rows: EntryRows; readonly eventStore: EventStore };

/** One list of refusals for each of the given sets of values: `related entry not found: <id>` (spec 4 A, relation types). */
export async function findMissingTargets(type: ContentType, sets: readonly FieldValues[], dependencies: RelatedDependencies): Promise<readonly (readonly FieldError[])[]> {
  const relations = storedFields(type.definition).filter(({ definition }) => definition.field_type === 'relation');
  const problems: FieldError[][] = sets.map(() => []);
  for (const { key, definition } of relations) {
    const ids = new Set(sets.flatMap((values) => idsIn(values[key])));
    if (ids.size === 0) continue;
    const target = await dependencies.types.get(type.tenant, definition.relation_to ?? '');
    const missing = new Set(ids);
    if (target) {
      for (const id of await dependencies.rows.existing(target, [...ids])) missing.delete(id);
      for (const id of missing) if (await isInStream(target, id, dependencies.eventStore)) missing.delete(id);
    }
    sets.forEach((values, index) => {
      for (const id of idsIn(values[key])) if (missing.has(id)) problems[index]?.push({ field: key, message: `related entry not found: ${id}` });
    });
  }
  return problems;
}

/** Ids that the value of a relation names. */
export function idsIn(value: Json | undefined): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((id) => typeof id === 'string');
}

/** The read model may be behind: the stream's last event knows. */
async function isInStream(type: ContentType, id: string, eventStore: EventStore): Promise<boolean> {
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  for await (const event of eventStore.readStream(stream, { direction: 'backwards', limit: 1 })) {
    const last = parseEntryEvent(event);
    return last.type !== 'EntryDeleted' && last.data.type_id === type.id;
  }
  return false;
}
