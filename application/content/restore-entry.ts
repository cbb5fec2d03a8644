import { changeEntry } from '../../domain/content/entry.ts';
import { shownValue, storedFields } from '../../domain/content/entry-fields.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import { emptyValue } from '../../domain/content/field-types.ts';
import { sameJson } from '../../domain/content/same-json.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { streamName } from '../../domain/stream.ts';
import { foldEntry } from './fold-entry.ts';
import { findRevision } from './find-revision.ts';
import type { RevisionWindow } from './revision-window.ts';
import { runEntryCommand } from './run-entry-command.ts';
import type { EntryDependencies, EntryOutcome } from './run-entry-command.ts';

export type EntryRestore = {
  readonly type: ContentType;
  readonly id: string;
  /** Id or version of the revision. */
  readonly revision: string;
  readonly versions?: readonly number[] | undefined;
  /** Fields that stay as they are: those the caller may not write. */
  readonly except: ReadonlySet<string>;
  readonly window: RevisionWindow;
};

/**
 * Writes the field values of an earlier revision as a new one, under today's rules; fields that are gone today stay gone.
 * @throws `entry_not_found`, `revision_not_found`, `payment_required` outside the window, `entry_changed`, `validation_failed`, `unique_value_held`
 */
export async function restoreEntry({ type, id, revision, versions, except, window }: EntryRestore, context: CommandContext, dependencies: EntryDependencies): Promise<EntryOutcome> {
  const { eventStore } = dependencies;
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  const row = await dependencies.rows.load(type, id);
  const found = await findRevision({ eventStore, stream, revision });
  const past = found === undefined ? undefined : (await foldEntry(eventStore, stream, { to: found, type })).state;
  if (!past || past.typeId !== type.id) throw refusal(row ? 'revision_not_found' : 'entry_not_found');
  if (row && past.version !== row.version && !window.holds(past.updatedAt)) throw window.refuse();
  const written = storedFields(type.definition).filter(({ key }) => !except.has(key));
  const data = Object.fromEntries(written.map((field) => [field.key, shownValue(field, past.fields)]));
  return runEntryCommand({ type, id, decide: (state, command) => changeEntry(state, { ...command, data: onlyKnown(data), versions, restoredVersion: past.version }) }, context, dependencies);

  /** A field that is required today and had no value then keeps today's value. */
  function onlyKnown(values: typeof data): typeof data {
    const kept = written.filter(({ key, definition }) => definition.required === true && sameJson(values[key] ?? null, emptyValue(definition))).map(({ key }) => key);
    return Object.fromEntries(Object.entries(values).filter(([key]) => !kept.includes(key)));
  }
}
