import { undeleteEntry as decide } from '../../domain/content/entry.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import type { FieldValues } from '../../domain/content/events.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { streamName } from '../../domain/stream.ts';
import { foldEntry } from './fold-entry.ts';
import { findMissingTargets, idsIn } from './related-entries.ts';
import { runEntryCommand } from './run-entry-command.ts';
import type { EntryDependencies, EntryOutcome } from './run-entry-command.ts';

export type EntryUndeletion = {
  readonly type: ContentType;
  readonly id: string;
  readonly versions?: readonly number[] | undefined;
  /** Also after a deletion that kept nothing but the history. */
  readonly fromHistory?: boolean;
};

/**
 * Brings a deleted entry back; optional relations to entries that are gone meanwhile come back empty. Without `fromHistory` only what a type with
 * soft delete has kept (spec 4 A).
 * @throws `entry_not_found`, `entry_changed`, `invalid_status_transition` for an entry that is not deleted, `unique_value_held` for a value or
 * slug that another entry has taken, `validation_failed` for a required relation whose target is gone
 */
export async function undeleteEntry({ type, id, versions, fromHistory = false }: EntryUndeletion, context: CommandContext, dependencies: EntryDependencies): Promise<EntryOutcome> {
  const { state: past } = await foldEntry(dependencies.eventStore, streamName({ category: 'entry', tenant: type.tenant, id }), { type });
  const overriding = past ? await withoutLostTargets(type, past.fields, dependencies) : {};
  return runEntryCommand(
    {
      type,
      id,
      decide: (state, command) => {
        const kept = type.definition.with_soft_delete === true && state?.deletedSoftly === true;
        if (state?.deleted === true && !kept && !fromHistory) throw refusal('entry_not_found');
        return decide(state, { ...command, versions, overriding });
      },
    },
    context,
    dependencies,
  );
}

/** Values of the relations that lost a target: those that are left. A required one stays as it is and is refused later. */
async function withoutLostTargets(type: ContentType, fields: FieldValues, dependencies: EntryDependencies): Promise<FieldValues> {
  const relations = storedFields(type.definition).filter(({ definition }) => definition.field_type === 'relation' && definition.required !== true);
  const links = relations.flatMap(({ key }) => idsIn(fields[key]).map((id) => ({ key, id })));
  if (links.length === 0) return {};
  const missing = await findMissingTargets(type, links.map(({ key, id }) => ({ [key]: id })), dependencies);
  const lost = links.filter((_, index) => (missing[index] ?? []).length > 0);
  return Object.fromEntries(
    [...new Set(lost.map(({ key }) => key))].map((key) => {
      const value = fields[key] ?? null;
      return [key, Array.isArray(value) ? value.filter((id) => !lost.some((link) => link.key === key && link.id === id)) : null];
    }),
  );
}
