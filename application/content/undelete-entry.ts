import type { ContentType } from '../../domain/content/content-type.ts';
import type { FieldValues } from '../../domain/content/entry-events.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import { entryDecider } from '../../domain/content/entry.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { ownValue } from '../../domain/own-value.ts';
import { streamName } from '../../domain/stream.ts';
import { foldEntry } from './fold-entry.ts';
import { findMissingTargets, idsIn } from './related-entries.ts';
import { type EntryDependencies, type EntryOutcome, runEntryCommand } from './run-entry-command.ts';

export type UndeleteEntryInput = {
  readonly type: ContentType;
  readonly id: string;
  /** Versions of an `If-Match` header. */
  readonly versions?: readonly number[] | undefined;
  /** Also undeletes an entry whose deletion was not soft, from its history. Default: false. */
  readonly fromHistory?: boolean;
};

/**
 * Undeletes an entry. Optional relations lose the targets that no longer exist.
 * @throws `entry_not_found`, `entry_changed`; `invalid_status_transition` for an entry that is not deleted;
 *   `unique_value_held` when another entry holds one of its values or its slug; `validation_failed` for a required
 *   relation whose target does not exist
 */
export async function undeleteEntry(
  { type, id, versions, fromHistory = false }: UndeleteEntryInput,
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryOutcome> {
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  const { state: past } = await foldEntry({ stream, type }, dependencies);
  const overriding = past ? await withoutMissingTargets({ type, fields: past.fields }, dependencies) : {};
  return runEntryCommand(
    {
      type,
      id,
      decide: (state, base) => {
        const hasRow = type.definition.with_soft_delete === true && state?.deletedSoftly === true;
        if (state?.deleted === true && !hasRow && !fromHistory) throw refusal('entry_not_found');
        return entryDecider.decide(state, { ...base, kind: 'undelete', versions, overriding });
      },
    },
    context,
    dependencies,
  );
}

/**
 * The optional relations that lose a target, with the targets that are left. Required relations are not changed;
 * `runEntryCommand` refuses them.
 */
async function withoutMissingTargets(
  { type, fields }: { readonly type: ContentType; readonly fields: FieldValues },
  dependencies: EntryDependencies,
): Promise<FieldValues> {
  const relations = storedFields(type.definition).filter(
    ({ definition }) => definition.field_type === 'relation' && definition.required !== true,
  );
  const links = relations.flatMap(({ key }) => idsIn(ownValue(fields, key)).map((id) => ({ key, id })));
  if (links.length === 0) return {};
  const missing = await findMissingTargets({ type, sets: links.map(({ key, id }) => ({ [key]: id })) }, dependencies);
  const lost = links.filter((_, index) => (missing[index] ?? []).length > 0);
  return Object.fromEntries(
    [...new Set(lost.map(({ key }) => key))].map((key) => {
      const value = ownValue(fields, key) ?? null;
      return [
        key,
        Array.isArray(value) ? value.filter((id) => !lost.some((link) => link.key === key && link.id === id)) : null,
      ];
    }),
  );
}
