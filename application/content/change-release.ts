import type { ReleaseSettings } from '../../domain/content/release-events.ts';
import type { CommandContext } from '../../domain/context.ts';
import { decideOnRelease } from './decide-on-release.ts';
import { refusePastSchedule } from './refuse-past-schedule.ts';
import type { ReleaseDependencies, ReleaseOutcome } from './release-dependencies.ts';

/**
 * Changes the given settings. A time schedules the release, null removes it from the schedule.
 * @throws `release_not_found`, `release_published`, `release_in_progress`; `validation_failed` for a schedule in the
 *   past
 */
export async function changeRelease(
  { id, settings }: { readonly id: string; readonly settings: Partial<ReleaseSettings> },
  context: CommandContext,
  dependencies: Pick<ReleaseDependencies, 'eventStore'>,
): Promise<ReleaseOutcome> {
  refusePastSchedule(settings.scheduled_at ?? null, context);
  const { position } = await decideOnRelease(
    { id, commandFor: () => ({ kind: 'change', settings, actor: context.actor }) },
    context,
    dependencies,
  );
  return { id, position };
}
