import type { ReleaseEvent, ReleaseItem, ReleaseSettings, ReleaseState } from '../../domain/content/release.ts';
import { changeRelease as decideChange, deleteRelease as decideDelete, parseReleaseEvent, releaseDecider, setReleaseEntries as decideEntries } from '../../domain/content/release.ts';
import type { CommandContext } from '../../domain/context.ts';
import { timestamp } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { handleCommand } from '../handle-command.ts';
import type { ReleaseDependencies } from './release-dependencies.ts';
import { releaseStream } from './release-dependencies.ts';
import { typeOfEntry } from './type-of-entry.ts';

export type ReleaseOutcome = { readonly id: string; readonly position: GlobalPosition | undefined };

type Dependencies = Pick<ReleaseDependencies, 'eventStore' | 'typeById'>;

/** Most entries of a release. */
export const MAX_RELEASE_ITEMS = 1000;
const AT_ONCE = 20;

/** Makes a release without entries (spec 4 A, releases). @throws `validation_failed` for a time that is over */
export function createRelease(settings: ReleaseSettings, context: CommandContext, dependencies: Dependencies): Promise<ReleaseOutcome> {
  refusePast(settings.scheduled_at, context);
  return decideOn(context.newId(), context, dependencies, () => [{ type: 'ReleaseCreated', data: settings }]);
}

/** Sets what is given; a time puts it on the schedule, null takes it off. @throws `release_not_found`, `release_published`, `release_in_progress`, `validation_failed` */
export function changeRelease(
  { id, settings }: { readonly id: string; readonly settings: Partial<ReleaseSettings> },
  context: CommandContext,
  dependencies: Dependencies,
): Promise<ReleaseOutcome> {
  refusePast(settings.scheduled_at ?? null, context);
  return decideOn(id, context, dependencies, (state) => decideChange(state, settings));
}

/**
 * Replaces the entries of a release. Whether each may be moved is decided when it is published.
 * @throws `release_not_found`, `release_published`, `release_in_progress`; `validation_failed` for an entry that is there twice or not at all
 */
export async function setReleaseEntries(
  { id, items }: { readonly id: string; readonly items: readonly ReleaseItem[] },
  context: CommandContext,
  dependencies: Dependencies,
): Promise<ReleaseOutcome> {
  const twice = items.findIndex((item, at) => items.findIndex(({ entry_id: other }) => other === item.entry_id) < at);
  if (twice >= 0) throw refuseItem(twice, 'is there twice');
  for (let at = 0; at < items.length; at += AT_ONCE) {
    const types = await Promise.all(items.slice(at, at + AT_ONCE).map(({ entry_id: entryId }) => typeOfEntry({ tenant: context.tenant, id: entryId }, dependencies)));
    const missing = types.findIndex((type) => type === undefined);
    if (missing >= 0) throw refuseItem(at + missing, 'content not found');
  }
  return decideOn(id, context, dependencies, (state) => decideEntries(state, items));
}

/** @throws `release_not_found`, `release_in_progress` */
export function deleteRelease(id: string, context: CommandContext, dependencies: Dependencies): Promise<ReleaseOutcome> {
  return decideOn(id, context, dependencies, decideDelete);
}

async function decideOn(id: string, context: CommandContext, { eventStore }: Dependencies, decide: (state: ReleaseState) => readonly ReleaseEvent[]): Promise<ReleaseOutcome> {
  const { position } = await handleCommand({
    eventStore, context,
    stream: releaseStream(context.tenant, id),
    decider: releaseDecider,
    parse: parseReleaseEvent,
    decide: (state) => decide(state).map((event) => ({ ...event, actor: context.actor })),
  });
  return { id, position };
}

function refusePast(scheduledAt: string | null, context: CommandContext): void {
  if (scheduledAt !== null && scheduledAt <= timestamp(context)) throw refusal('validation_failed', { fields: [{ field: 'scheduled_at', message: 'must lie in the future' }] });
}

function refuseItem(index: number, message: string): Error {
  return refusal('validation_failed', { fields: [{ field: `items.${index}.entry_id`, message }] });
}
