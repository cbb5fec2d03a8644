import { convertThrough } from '../../domain/content/convert-value.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import { earlierFields, writtenValue } from '../../domain/content/earlier-values.ts';
import type { WrittenValue } from '../../domain/content/earlier-values.ts';
import { changeEntry } from '../../domain/content/entry.ts';
import type { StoredField } from '../../domain/content/entry-fields.ts';
import { shownValue, storedFields } from '../../domain/content/entry-fields.ts';
import { emptyValue } from '../../domain/content/field-types.ts';
import { parseEntryEvent } from '../../domain/content/parse-entry-event.ts';
import { sameJson } from '../../domain/content/same-json.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode, isAppError, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { laterOf } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import type { EntriesWithoutValue } from '../ports/entries-without-value.ts';
import { runEntryCommand } from './run-entry-command.ts';
import type { EntryDependencies } from './run-entry-command.ts';

export type RecoverDependencies = EntryDependencies & {
  readonly withoutValue: EntriesWithoutValue;
  /** Resolves true when the read models have reached the position, false after the time-out. */
  readonly waitFor: (readModels: readonly string[], position: GlobalPosition, timeoutMs: number) => Promise<boolean>;
};

/** An entry whose earlier value was not written, and why. */
export type SkippedEntry = { readonly entryId: string; readonly reason: string };

export type RecoveredField = {
  /** Entries that got their value. */
  readonly recovered: number;
  /** The first of those that did not although they had one. */
  readonly skipped: readonly SkippedEntry[];
  readonly skippedTotal: number;
  readonly position: GlobalPosition | undefined;
};

type Outcome = { readonly position: GlobalPosition } | { readonly reason: string } | undefined;

const CATCH_UP_MS = 5000;
const PAGE = 200;
const AT_ONCE = 8;
const MAX_SKIPPED = 100;

/**
 * Writes the values that entries held in removed fields of this field's name into it again, where an entry has none today: removed values stay
 * in the history (spec 4 B). What today's type or rules do not take is skipped. All writes carry the one correlation id of the command, so they
 * can be found and undone together; running it again goes on where it was broken off. Memory holds one page of ids.
 * @throws `field_not_found`, `not_caught_up`; the signal's reason
 */
export async function recoverField(
  { type, name, signal }: { readonly type: ContentType; readonly name: string; readonly signal: AbortSignal },
  context: CommandContext,
  dependencies: RecoverDependencies,
): Promise<RecoveredField> {
  const { eventStore, withoutValue, waitFor } = dependencies;
  const definition = type.definition.fields.find((field) => field.name === name);
  if (!definition) throw refusal('field_not_found');
  if (!(await waitFor(['content'], await eventStore.head(), CATCH_UP_MS))) throw refusal('not_caught_up');
  const field = storedFields(type.definition).find((stored) => stored.definition === definition);
  const earlier = earlierFields(type, definition);
  const skipped: SkippedEntry[] = [];
  let [recovered, skippedTotal] = [0, 0];
  let position: GlobalPosition | undefined;

  if (field && earlier.size > 0) {
    for await (const ids of entriesOf(field)) {
      signal.throwIfAborted();
      const outcomes = await Promise.all(ids.map(async (id) => ({ id, outcome: await recoverEntry(id, field) })));
      for (const { id, outcome } of outcomes) {
        if (!outcome) continue;
        if ('position' in outcome) {
          recovered += 1;
          position = position === undefined ? outcome.position : laterOf(position, outcome.position);
        } else {
          skippedTotal += 1;
          if (skipped.length < MAX_SKIPPED) skipped.push({ entryId: id, reason: outcome.reason });
        }
      }
    }
  }
  return { recovered, skipped, skippedTotal, position };

  /** A few at a time. */
  async function* entriesOf(stored: StoredField): AsyncIterable<readonly string[]> {
    for (let after: string | undefined; ; ) {
      const ids = await withoutValue.page(type, stored, { after, limit: PAGE });
      for (let at = 0; at < ids.length; at += AT_ONCE) yield ids.slice(at, at + AT_ONCE);
      after = ids.at(-1);
      if (ids.length < PAGE) return;
    }
  }

  async function recoverEntry(id: string, stored: StoredField): Promise<Outcome> {
    const held = await lastValue(id);
    const none = emptyValue(stored.definition);
    if (held === undefined || held.value === null || sameJson(held.value, none)) return undefined;
    const value = convertThrough(stored.definition, held.value, [...held.types, stored.definition.field_type]);
    if (value === null || sameJson(value, none)) return { reason: 'the value does not convert to the type of today' };
    try {
      const outcome = await runEntryCommand(
        { type, id, decide: (state, command) => (state && !sameJson(shownValue(stored, state.fields), none) ? [] : changeEntry(state, { ...command, data: { [stored.key]: value } })) },
        context,
        dependencies,
      );
      return outcome.position === undefined ? undefined : { position: outcome.position };
    } catch (error) {
      // Deleted meanwhile: no living entry any more.
      if (hasCode(error, 'entry_not_found')) return undefined;
      if (!isAppError(error) || !(hasCode(error, 'validation_failed') || hasCode(error, 'unique_value_held'))) throw error;
      return { reason: error.fields?.[0]?.message ?? error.message };
    }
  }

  /** The last value that the entry's history holds in any of the earlier fields. */
  async function lastValue(id: string): Promise<WrittenValue | undefined> {
    for await (const event of eventStore.readStream(streamName({ category: 'entry', tenant: type.tenant, id }), { direction: 'backwards' })) {
      const written = writtenValue(type, earlier, parseEntryEvent(event));
      if (written !== undefined) return written;
    }
    return undefined;
  }
}
