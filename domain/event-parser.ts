import type { DomainEvent } from './event.ts';
import type { JsonObject } from './json.ts';

type StoredEvent = { readonly type: string; readonly data: JsonObject };

/** The event types of one aggregate, and the check that a stored event is one of them. */
export type EventParser<Event extends DomainEvent> = {
  readonly types: ReadonlySet<string>;
  /** Whether the event is one of the aggregate's. */
  readonly includes: <Stored extends StoredEvent>(event: Stored) => event is Stored & Event;
  /**
   * Narrows a stored event. Upcasters of older schema versions belong here.
   * @throws TypeError for an event of another aggregate
   */
  readonly parse: <Stored extends StoredEvent>(event: Stored) => Stored & Event;
};

/**
 * Makes the parser of an aggregate's events.
 * @param aggregate Name for the error message, such as `API key`.
 * @param types All event types of the aggregate.
 */
export function eventParser<Event extends DomainEvent>(
  aggregate: string,
  types: readonly Event['type'][],
): EventParser<Event> {
  const typeNames: ReadonlySet<string> = new Set(types);

  function includes<Stored extends StoredEvent>(event: Stored): event is Stored & Event {
    return typeNames.has(event.type);
  }

  return {
    types: typeNames,
    includes,
    parse(event) {
      if (!includes(event)) throw new TypeError(`not an event of this aggregate (${aggregate}): ${event.type}`);
      return event;
    },
  };
}
