import type { Actor } from '../event.ts';
import type { Json } from '../json.ts';
import type { ContentTypeDefinition } from './definition.ts';
import { shownValue, storedFields } from './entry-fields.ts';
import type { EntryState } from './entry-state.ts';
import { sameJson } from './same-json.ts';

/** An event of an entry's stream, as the trace needs it. */
export type TracedEvent = {
  /** The entry's version after the event. */
  readonly version: number;
  readonly actor: Actor;
  /** RFC 3339, UTC. */
  readonly at: string;
  /** Whether the event belongs to the batch that is undone. */
  readonly ofBatch: boolean;
};

export type LaterEdit = Pick<TracedEvent, 'version' | 'actor' | 'at'>;

/** One aspect of an entry that the batch wrote: a field, `status`, `slug`, or whether the entry exists. */
type AspectTrace = {
  /** The value as if the batch had not run: only the events outside the batch are applied. */
  readonly without: Json;
  /** `without` at the batch's last write. An undo restores this value. */
  readonly target: Json;
  /** The value that the batch wrote last. */
  readonly left: Json;
  /** The last event outside the batch that wrote the aspect after the batch. */
  readonly later: LaterEdit | undefined;
};

export type BatchTrace = {
  readonly aspects: ReadonlyMap<string, AspectTrace>;
  readonly existence: AspectTrace | undefined;
  /** The first edits outside the batch since the batch last created or undeleted the entry. */
  readonly edits: readonly LaterEdit[];
  /** The deletion by an event outside the batch, while the entry is deleted. */
  readonly deletion: LaterEdit | undefined;
};

export const NO_TRACE: BatchTrace = { aspects: new Map(), existence: undefined, edits: [], deletion: undefined };

/** The aspects that are not fields. No field can have these names. */
export const STATUS = 'status';
export const SLUG = 'slug';

/** Maximum number of edits that a trace lists. */
const MAX_EDITS = 10;

/** The trace after one more event. `before` and `after` are the states of the entry before and after it. */
export function traceEvent(
  trace: BatchTrace,
  {
    definition,
    before,
    after,
    event,
  }: {
    readonly definition: ContentTypeDefinition;
    readonly before: EntryState | undefined;
    readonly after: EntryState | undefined;
    readonly event: TracedEvent;
  },
): BatchTrace {
  const [was, is] = [isLive(before), isLive(after)];
  const isCreation = event.ofBatch && !was && is;
  const isLaterEdit = !event.ofBatch && trace.existence?.left === true && trace.edits.length < MAX_EDITS;
  return {
    aspects: traceAspects({
      earlierAspects: trace.aspects,
      before: aspectsOf(definition, before),
      after: aspectsOf(definition, after),
      event,
    }),
    existence: was === is ? trace.existence : traceAspect({ trace: trace.existence, before: was, after: is, event }),
    edits: isCreation ? [] : isLaterEdit ? [...trace.edits, editOf(event)] : trace.edits,
    deletion: is ? undefined : was ? (event.ofBatch ? undefined : editOf(event)) : trace.deletion,
  };
}

/** All aspects of an entry; null for an aspect without a value. */
export function aspectsOf(definition: ContentTypeDefinition, entry: EntryState | undefined): ReadonlyMap<string, Json> {
  const fields = storedFields(definition).map((field): readonly [string, Json] => [
    field.key,
    shownValue(field, entry?.fields ?? {}),
  ]);
  return new Map([...fields, [STATUS, entry?.status ?? null], [SLUG, entry?.slug ?? null]]);
}

/** Whether the entry exists and is not deleted. */
export function isLive(entry: EntryState | undefined): boolean {
  return entry?.deleted === false;
}

function traceAspects({
  earlierAspects,
  before,
  after,
  event,
}: {
  readonly earlierAspects: BatchTrace['aspects'];
  readonly before: ReadonlyMap<string, Json>;
  readonly after: ReadonlyMap<string, Json>;
  readonly event: TracedEvent;
}): BatchTrace['aspects'] {
  const traced = new Map(earlierAspects);
  for (const [name, value] of after) {
    const was = before.get(name) ?? null;
    const next = sameJson(was, value)
      ? undefined
      : traceAspect({ trace: earlierAspects.get(name), before: was, after: value, event });
    if (next) traced.set(name, next);
  }
  return traced;
}

function traceAspect({
  trace,
  before,
  after,
  event,
}: {
  readonly trace: AspectTrace | undefined;
  readonly before: Json;
  readonly after: Json;
  readonly event: TracedEvent;
}): AspectTrace | undefined {
  if (!event.ofBatch) return trace && { ...trace, without: after, later: editOf(event) };
  const without = trace ? trace.without : before;
  return { without, target: without, left: after, later: undefined };
}

function editOf({ version, actor, at }: TracedEvent): LaterEdit {
  return { version, actor, at };
}
