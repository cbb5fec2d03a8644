import type { Actor } from '../event.ts';
import type { Json } from '../json.ts';
import type { ContentTypeDefinition } from './definition.ts';
import { shownValue, storedFields } from './entry-fields.ts';
import type { EntryState } from './entry-state.ts';
import { sameJson } from './same-json.ts';

/** An event of an entry's stream, as far as an undo asks about it. */
export type TracedEvent = {
  /** Version that it made. */
  readonly version: number;
  readonly actor: Actor;
  /** RFC 3339, UTC. */
  readonly at: string;
  /** One of those that are to be undone. */
  readonly ofBatch: boolean;
};

export type LaterEdit = Pick<TracedEvent, 'version' | 'actor' | 'at'>;

/**
 * One aspect of an entry (a field, `status`, `slug`, whether it is there) that the batch wrote. `without`: what it would be had the batch not been;
 * `target`: the same at the batch's last write, which is what an undo goes back to; `left`: what the batch made of it.
 */
type AspectTrace = { readonly without: Json; readonly target: Json; readonly left: Json; readonly later: LaterEdit | undefined };

export type BatchTrace = {
  readonly aspects: ReadonlyMap<string, AspectTrace>;
  readonly existence: AspectTrace | undefined;
  /** What others did since the batch last brought the entry into being; the first few. */
  readonly edits: readonly LaterEdit[];
  /** Who else deleted the entry, as long as it is deleted. */
  readonly deletion: LaterEdit | undefined;
};

export const NO_TRACE: BatchTrace = { aspects: new Map(), existence: undefined, edits: [], deletion: undefined };

/** Aspects beside the fields: names that no field may have (spec 4, content types). */
export const STATUS = 'status';
export const SLUG = 'slug';

const MOST_EDITS = 10;

/** The trace after one more event; `before` and `after` are the entry around it. */
export function traceEvent(definition: ContentTypeDefinition, trace: BatchTrace, [before, after]: readonly [EntryState | undefined, EntryState | undefined], event: TracedEvent): BatchTrace {
  const [was, is] = [isThere(before), isThere(after)];
  const made = event.ofBatch && !was && is;
  const counts = !event.ofBatch && trace.existence?.left === true && trace.edits.length < MOST_EDITS;
  return {
    aspects: traceAspects(trace.aspects, aspectsOf(definition, before), aspectsOf(definition, after), event),
    existence: was === is ? trace.existence : step(trace.existence, was, is, event),
    edits: made ? [] : counts ? [...trace.edits, edit(event)] : trace.edits,
    deletion: is ? undefined : was ? (event.ofBatch ? undefined : edit(event)) : trace.deletion,
  };
}

/** Every aspect of an entry; null where there is none. */
export function aspectsOf(definition: ContentTypeDefinition, entry: EntryState | undefined): ReadonlyMap<string, Json> {
  const fields = storedFields(definition).map((field): readonly [string, Json] => [field.key, shownValue(field, entry?.fields ?? {})]);
  return new Map([...fields, [STATUS, entry?.status ?? null], [SLUG, entry?.slug ?? null]]);
}

export function isThere(entry: EntryState | undefined): boolean {
  return entry?.deleted === false;
}

function traceAspects(known: BatchTrace['aspects'], before: ReadonlyMap<string, Json>, after: ReadonlyMap<string, Json>, event: TracedEvent): BatchTrace['aspects'] {
  const traced = new Map(known);
  for (const [name, value] of after) {
    const was = before.get(name) ?? null;
    const next = sameJson(was, value) ? undefined : step(known.get(name), was, value, event);
    if (next) traced.set(name, next);
  }
  return traced;
}

function step(known: AspectTrace | undefined, before: Json, after: Json, event: TracedEvent): AspectTrace | undefined {
  if (!event.ofBatch) return known && { ...known, without: after, later: edit(event) };
  const without = known ? known.without : before;
  return { without, target: without, left: after, later: undefined };
}

function edit({ version, actor, at }: TracedEvent): LaterEdit {
  return { version, actor, at };
}
