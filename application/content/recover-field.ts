import { chunks } from '../../domain/chunks.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import { convertThrough } from '../../domain/content/convert-value.ts';
import { parseEntryEvent } from '../../domain/content/entry-events.ts';
import { type StoredField, shownValue, storedFields } from '../../domain/content/entry-fields.ts';
import { entryDecider } from '../../domain/content/entry.ts';
import { emptyValue } from '../../domain/content/field-types.ts';
import { type WrittenValue, removedFieldIds, writtenValue } from '../../domain/content/previous-values.ts';
import { sameJson } from '../../domain/content/same-json.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode, isAppError, refusal } from '../../domain/errors.ts';
import { type GlobalPosition, laterOf } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import type { EntriesWithoutValue } from '../ports/entries-without-value.ts';
import type { ProjectionProgress } from '../ports/projection-progress.ts';
import { waitForHead } from '../wait-for-read-model.ts';
import { type EntryDependencies, runEntryCommand } from './run-entry-command.ts';

export type RecoverDependencies = EntryDependencies & {
  readonly withoutValue: EntriesWithoutValue;
  readonly progress: Pick<ProjectionProgress, 'waitFor'>;
};

/** An entry whose previous value could not be written, and the reason. */
export type SkippedEntry = { readonly entryId: string; readonly reason: string };

export type RecoveredField = {
  /** Number of entries that got their previous value. */
  readonly recovered: number;
  /** The first entries whose previous value was skipped. */
  readonly skipped: readonly SkippedEntry[];
  readonly skippedTotal: number;
  readonly position: GlobalPosition | undefined;
};

type Outcome = { readonly position: GlobalPosition } | { readonly reason: string } | undefined;

const PAGE = 200;
const AT_ONCE = 8;
const MAX_SKIPPED = 100;

/**
 * Writes the values that entries held in removed fields of the same name into the field, for entries without a current
 * value. Values that do not convert, or that the current rules refuse, are skipped. All events have the correlation id
 * of the command, so they can be found and undone together. A repeated command continues after an interruption. One
 * page of ids is in memory at a time.
 * @throws `field_not_found`, `not_caught_up`; the signal's reason
 */
export async function recoverField(
  { type, name, signal }: { readonly type: ContentType; readonly name: string; readonly signal: AbortSignal },
  context: CommandContext,
  dependencies: RecoverDependencies,
): Promise<RecoveredField> {
  const { eventStore, withoutValue } = dependencies;
  const definition = type.definition.fields.find((field) => field.name === name);
  if (!definition) throw refusal('field_not_found');
  await waitForHead({ name: 'content' }, dependencies);
  const field = storedFields(type.definition).find((stored) => stored.definition === definition);
  const earlier = removedFieldIds(type, definition);
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

  /** Yields the ids of the entries without a value, a few at a time. */
  async function* entriesOf(stored: StoredField): AsyncIterable<readonly string[]> {
    for (let after: string | undefined; ;) {
      const ids = await withoutValue.page(type, stored, { after, limit: PAGE });
      yield* chunks(ids, AT_ONCE);
      after = ids.at(-1);
      if (ids.length < PAGE) return;
    }
  }

  async function recoverEntry(id: string, stored: StoredField): Promise<Outcome> {
    const held = await lastValue(id);
    const none = emptyValue(stored.definition);
    if (held === undefined || held.value === null || sameJson(held.value, none)) return undefined;
    const value = convertThrough(stored.definition, held.value, [...held.types, stored.definition.field_type]);
    if (value === null || sameJson(value, none)) return { reason: 'the value does not convert to the current type' };
    try {
      const outcome = await runEntryCommand(
        {
          type,
          id,
          decide: (state, base) =>
            state && !sameJson(shownValue(stored, state.fields), none)
              ? []
              : entryDecider.decide(state, { ...base, kind: 'change', data: { [stored.key]: value } }),
        },
        context,
        dependencies,
      );
      return outcome.position === undefined ? undefined : { position: outcome.position };
    } catch (error) {
      // The entry was deleted in the meantime.
      if (hasCode(error, 'entry_not_found')) return undefined;
      if (!isAppError(error) || !(hasCode(error, 'validation_failed') || hasCode(error, 'unique_value_held')))
        throw error;
      return { reason: error.fields?.[0]?.message ?? error.message };
    }
  }

  /** The last value of the removed fields in the entry's history. */
  async function lastValue(id: string): Promise<WrittenValue | undefined> {
    for await (const event of eventStore.readStream(streamName({ category: 'entry', tenant: type.tenant, id }), {
      direction: 'backwards',
    })) {
      const written = writtenValue(type, earlier, parseEntryEvent(event));
      if (written !== undefined) return written;
    }
    return undefined;
  }
}
