import type { ContentType } from '../../domain/content/content-type.ts';
import { shownValue, storedFields } from '../../domain/content/entry-fields.ts';
import { entryDecider } from '../../domain/content/entry.ts';
import { emptyValue } from '../../domain/content/field-types.ts';
import { sameJson } from '../../domain/content/same-json.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { streamName } from '../../domain/stream.ts';
import { findRevision } from './find-revision.ts';
import { foldEntry } from './fold-entry.ts';
import type { RevisionWindow } from './revision-window.ts';
import { type EntryDependencies, type EntryOutcome, runEntryCommand } from './run-entry-command.ts';

export type RestoreEntryInput = {
  readonly type: ContentType;
  readonly id: string;
  /** Event id or version of the revision. */
  readonly revision: string;
  /** Versions of an `If-Match` header. */
  readonly versions?: readonly number[] | undefined;
  /** Keys of the fields that are not restored, because the caller may not write them. */
  readonly except: ReadonlySet<string>;
  readonly window: RevisionWindow;
};

/**
 * Writes the field values of an earlier revision as a new one, under the current rules. Removed fields are not
 * restored. A field that is required now and had no value then keeps its current value.
 * @throws `entry_not_found`, `revision_not_found`, `payment_required` outside the window, `entry_changed`,
 *   `validation_failed`, `unique_value_held`
 */
export async function restoreEntry(
  { type, id, revision, versions, except, window }: RestoreEntryInput,
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryOutcome> {
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  const row = await dependencies.entryRows.load(type, id);
  const found = await findRevision({ stream, revision }, dependencies);
  const past = found === undefined ? undefined : (await foldEntry({ stream, type, to: found }, dependencies)).state;
  if (!past || past.typeId !== type.id) throw refusal(row ? 'revision_not_found' : 'entry_not_found');
  if (row && past.version !== row.version && !window.holds(past.updatedAt)) throw window.refusal();
  const data = Object.fromEntries(
    storedFields(type.definition)
      .filter(({ key }) => !except.has(key))
      .map((field) => ({ field, value: shownValue(field, past.fields) }))
      .filter(
        ({ field: { definition }, value }) => definition.required !== true || !sameJson(value, emptyValue(definition)),
      )
      .map(({ field, value }) => [field.key, value]),
  );
  return runEntryCommand(
    {
      type,
      id,
      decide: (state, base) =>
        entryDecider.decide(state, { ...base, kind: 'change', data, versions, restoredVersion: past.version }),
    },
    context,
    dependencies,
  );
}
