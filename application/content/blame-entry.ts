import type { ContentType } from '../../domain/content/content-type.ts';
import type { FieldValues } from '../../domain/content/entry-events.ts';
import { shownValue, storedFields } from '../../domain/content/entry-fields.ts';
import { sameJson } from '../../domain/content/same-json.ts';
import { refusal } from '../../domain/errors.ts';
import type { Actor, RecordedEvent } from '../../domain/event.ts';
import type { Json } from '../../domain/json.ts';
import { streamName } from '../../domain/stream.ts';
import type { EventStore } from '../ports/event-store.ts';
import { NO_ENTRY, evolveEntry } from './fold-entry.ts';

/** The event that wrote a field's current value. */
export type FieldBlame = {
  /** Current name of the field. */
  readonly field: string;
  readonly value: Json;
  readonly version: number;
  /** RFC 3339, UTC. */
  readonly at: string;
  readonly actor: Actor;
  /**
   * The credential that wrote the value: a user's session, a key or a token. `id` is null for a session, the system and
   * anonymous callers.
   */
  readonly credential: {
    readonly kind: 'session' | 'api_key' | 'admin_token' | 'external' | 'system' | 'anonymous';
    readonly id: string | null;
  };
  readonly correlationId: string;
  readonly eventId: string;
};

/**
 * Finds, for each field of an entry, the event that wrote its current value: the last one that changed it. Fields that
 * were never written are left out; for an emptied field it is the event that emptied it.
 * @throws `entry_not_found`, also for a deleted entry
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
    at = evolveEntry(at, event, type);
    const after: FieldValues = at.state?.fields ?? {};
    if (before === after) continue;
    for (const field of fields)
      if (!sameJson(shownValue(field, before), shownValue(field, after))) writers.set(field.key, event);
  }
  const { state } = at;
  if (!state || state.deleted || state.typeId !== type.id) throw refusal('entry_not_found');
  return fields.flatMap((field) => {
    const event = writers.get(field.key);
    if (!event) return [];
    const { actor, occurred_at, $correlationId } = event.metadata;
    return [
      {
        field: field.key,
        value: shownValue(field, state.fields),
        version: event.revision + 1,
        at: occurred_at,
        actor,
        credential: credentialOf(actor),
        correlationId: $correlationId,
        eventId: event.id,
      },
    ];
  });
}

function credentialOf({ kind, id }: Actor): FieldBlame['credential'] {
  switch (kind) {
    // The history does not record the session.
    case 'user':
      return { kind: 'session', id: null };
    case 'system':
    case 'anonymous':
      return { kind, id: null };
    default:
      return { kind, id };
  }
}
