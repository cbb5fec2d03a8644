import type { ContentType } from '../../domain/content/content-type.ts';
import { shownValue, storedFields } from '../../domain/content/entry-fields.ts';
import type { FieldValues } from '../../domain/content/events.ts';
import { sameJson } from '../../domain/content/same-json.ts';
import type { Actor, RecordedEvent } from '../../domain/event.ts';
import type { Json } from '../../domain/json.ts';
import { refusal } from '../../domain/errors.ts';
import { streamName } from '../../domain/stream.ts';
import type { EventStore } from '../ports/event-store.ts';
import { applyEvent, NO_ENTRY } from './fold-entry.ts';

/** Who wrote the value that a field has today. */
export type FieldBlame = {
  /** Today's name. */
  readonly field: string;
  readonly value: Json;
  readonly version: number;
  /** RFC 3339, UTC. */
  readonly at: string;
  readonly actor: Actor;
  /** What the writer showed: a person's session, a key, a token; `id` where the credential has one of its own. */
  readonly credential: { readonly kind: 'session' | 'api_key' | 'admin_token' | 'external' | 'system' | 'anonymous'; readonly id: string | null };
  readonly correlationId: string;
  readonly eventId: string;
};

/**
 * For each field of an entry the event that gave it today's value: the last one after which it differed from before. Fields that nobody ever wrote are
 * left out; one that was emptied is blamed on who emptied it.
 * @throws `entry_not_found` (deleted entries too)
 */
export async function blameEntry(
  { type, id, hidden }: { readonly type: ContentType; readonly id: string; readonly hidden: ReadonlySet<string> },
  { eventStore }: { readonly eventStore: EventStore },
): Promise<readonly FieldBlame[]> {
  const fields = storedFields(type.definition).filter(({ key }) => !hidden.has(key));
  const writers = new Map<string, RecordedEvent>();
  let at = NO_ENTRY;
  for await (const event of eventStore.readStream(streamName({ category: 'entry', tenant: type.tenant, id }))) {
    const before: FieldValues = at.state?.fields ?? {};
    at = applyEvent(at, event, type);
    const after: FieldValues = at.state?.fields ?? {};
    if (before === after) continue;
    for (const field of fields) if (!sameJson(shownValue(field, before), shownValue(field, after))) writers.set(field.key, event);
  }
  const { state } = at;
  if (!state || state.deleted || state.typeId !== type.id) throw refusal('entry_not_found');
  return fields.flatMap((field) => {
    const event = writers.get(field.key);
    if (!event) return [];
    const { actor, occurred_at, $correlationId } = event.metadata;
    return [{ field: field.key, value: shownValue(field, state.fields), version: event.revision + 1, at: occurred_at, actor, credential: credentialOf(actor), correlationId: $correlationId, eventId: event.id }];
  });
}

function credentialOf({ kind, id }: Actor): FieldBlame['credential'] {
  switch (kind) {
    // Which of a person's sessions it was is no part of the history.
    case 'user':
      return { kind: 'session', id: null };
    case 'system':
    case 'anonymous':
      return { kind, id: null };
    default:
      return { kind, id };
  }
}
