import type { CommandContext } from '../../domain/context.ts';
import { decideOnRelease } from './decide-on-release.ts';
import type { ReleaseDependencies, ReleaseOutcome } from './release-dependencies.ts';

/** Deletes a release; its entries stay as they are. @throws `release_not_found`, `release_in_progress` */
export async function deleteRelease(
  { id }: { readonly id: string },
  context: CommandContext,
  dependencies: Pick<ReleaseDependencies, 'eventStore'>,
): Promise<ReleaseOutcome> {
  const { position } = await decideOnRelease(
    { id, commandFor: () => ({ kind: 'delete', actor: context.actor }) },
    context,
    dependencies,
  );
  return { id, position };
}
