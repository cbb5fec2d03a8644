import { parseReleaseEvent, type ReleaseItem, type ReleaseSettings } from '../../domain/content/release-events.ts';
import { type ReleaseCommand, releaseDecider } from '../../domain/content/release.ts';
import { type CommandContext, timestamp } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { handleCommand } from '../handle-command.ts';
import { type ReleaseDependencies, releaseStream } from './release-dependencies.ts';
import { typeOfEntry } from './type-of-entry.ts';

export type ReleaseOutcome = { readonly id: string; readonly position: GlobalPosition | undefined };

type Dependencies = Pick<ReleaseDependencies, 'eventStore' | 'typeById'>;

/** Maximum number of entries of a release. */
export const MAX_RELEASE_ITEMS = 1000;
/** Entries that are looked up at the same time. */
const AT_ONCE = 20;

/** Creates a release without entries. @throws `validation_failed` for a schedule in the past */
export function createRelease(
  settings: ReleaseSettings,
  context: CommandContext,
  dependencies: Dependencies,
): Promise<ReleaseOutcome> {
  refusePast(settings.scheduled_at, context);
  const { actor } = context;
  return decideOnRelease({ id: context.newId(), command: { kind: 'create', settings, actor } }, context, dependencies);
}

/**
 * Changes the given settings. A time schedules the release, null removes it from the schedule.
 * @throws `release_not_found`, `release_published`, `release_in_progress`; `validation_failed` for a schedule in the
 *   past
 */
export function changeRelease(
  { id, settings }: { readonly id: string; readonly settings: Partial<ReleaseSettings> },
  context: CommandContext,
  dependencies: Dependencies,
): Promise<ReleaseOutcome> {
  refusePast(settings.scheduled_at ?? null, context);
  const { actor } = context;
  return decideOnRelease({ id, command: { kind: 'change', settings, actor } }, context, dependencies);
}

/**
 * Replaces the entries of a release. The publication decides whether each entry can be moved.
 * @throws `release_not_found`, `release_published`, `release_in_progress`; `validation_failed` for an entry that is
 *   listed twice or does not exist
 */
export async function setReleaseEntries(
  { id, items }: { readonly id: string; readonly items: readonly ReleaseItem[] },
  context: CommandContext,
  dependencies: Dependencies,
): Promise<ReleaseOutcome> {
  const duplicate = items.findIndex(
    (item, at) => items.findIndex(({ entry_id: other }) => other === item.entry_id) < at,
  );
  if (duplicate >= 0) throw itemRefusal(duplicate, 'is there twice');
  for (let at = 0; at < items.length; at += AT_ONCE) {
    const types = await Promise.all(
      items
        .slice(at, at + AT_ONCE)
        .map(({ entry_id: entryId }) => typeOfEntry({ tenant: context.tenant, id: entryId }, dependencies)),
    );
    const missing = types.findIndex((type) => type === undefined);
    if (missing >= 0) throw itemRefusal(at + missing, 'content not found');
  }
  const { actor } = context;
  return decideOnRelease({ id, command: { kind: 'set_entries', items, actor } }, context, dependencies);
}

/** @throws `release_not_found`, `release_in_progress` */
export function deleteRelease(
  id: string,
  context: CommandContext,
  dependencies: Dependencies,
): Promise<ReleaseOutcome> {
  return decideOnRelease({ id, command: { kind: 'delete', actor: context.actor } }, context, dependencies);
}

async function decideOnRelease(
  { id, command }: { readonly id: string; readonly command: ReleaseCommand },
  context: CommandContext,
  { eventStore }: Dependencies,
): Promise<ReleaseOutcome> {
  const { position } = await handleCommand(
    {
      stream: releaseStream(context.tenant, id),
      decider: releaseDecider,
      parse: parseReleaseEvent,
      decide: (state) => releaseDecider.decide(state, command),
    },
    context,
    { eventStore },
  );
  return { id, position };
}

function refusePast(scheduledAt: string | null, context: CommandContext): void {
  if (scheduledAt !== null && scheduledAt <= timestamp(context))
    throw refusal('validation_failed', { fields: [{ field: 'scheduled_at', message: 'must lie in the future' }] });
}

function itemRefusal(index: number, message: string): Error {
  return refusal('validation_failed', { fields: [{ field: `items.${index}.entry_id`, message }] });
}
