import type { ReleaseItem } from '../../domain/content/release-events.ts';
import type { CommandContext } from '../../domain/context.ts';
import { invalidField } from '../../domain/errors.ts';
import { decideOnRelease } from './decide-on-release.ts';
import type { ReleaseDependencies, ReleaseOutcome } from './release-dependencies.ts';
import { typeOfEntry } from './type-of-entry.ts';

/** Maximum number of entries of a release. */
export const MAX_RELEASE_ITEMS = 1000;
/** Entries that are looked up at the same time. */
const AT_ONCE = 20;

/**
 * Replaces the entries of a release. The publication decides whether the status of each entry can change.
 * @throws `release_not_found`, `release_published`, `release_in_progress`; `validation_failed` for an entry that is
 *   listed twice or does not exist
 */
export async function setReleaseEntries(
  { id, items }: { readonly id: string; readonly items: readonly ReleaseItem[] },
  context: CommandContext,
  dependencies: Pick<ReleaseDependencies, 'eventStore' | 'typeById'>,
): Promise<ReleaseOutcome> {
  const duplicate = items.findIndex(
    (item, at) => items.findIndex(({ entry_id: other }) => other === item.entry_id) < at,
  );
  if (duplicate >= 0) throw itemRefusal(duplicate, 'occurs twice');
  for (let at = 0; at < items.length; at += AT_ONCE) {
    const types = await Promise.all(
      items
        .slice(at, at + AT_ONCE)
        .map(({ entry_id: entryId }) => typeOfEntry({ tenant: context.tenant, id: entryId }, dependencies)),
    );
    const missing = types.findIndex((type) => type === undefined);
    if (missing >= 0) throw itemRefusal(at + missing, 'content not found');
  }
  const { position } = await decideOnRelease(
    { id, commandFor: () => ({ kind: 'set_entries', items, actor: context.actor }) },
    context,
    dependencies,
  );
  return { id, position };
}

function itemRefusal(index: number, message: string): Error {
  return invalidField(`items.${index}.entry_id`, message);
}
