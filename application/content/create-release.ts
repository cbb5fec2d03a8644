import type { ReleaseSettings } from '../../domain/content/release-events.ts';
import type { CommandContext } from '../../domain/context.ts';
import { decideOnRelease } from './decide-on-release.ts';
import { refusePastSchedule } from './refuse-past-schedule.ts';
import type { ReleaseDependencies, ReleaseOutcome } from './release-dependencies.ts';

/** Creates a release without entries. @throws `validation_failed` for a schedule in the past */
export async function createRelease(
  settings: ReleaseSettings,
  context: CommandContext,
  dependencies: Pick<ReleaseDependencies, 'eventStore'>,
): Promise<ReleaseOutcome> {
  refusePastSchedule(settings.scheduled_at, context);
  const id = context.newId();
  const { position } = await decideOnRelease(
    { id, commandFor: () => ({ kind: 'create', settings, actor: context.actor }) },
    context,
    dependencies,
  );
  return { id, position };
}
