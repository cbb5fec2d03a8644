import { changedName, contentTypeEvents } from '../../domain/content/content-type-events.ts';
import {
  type ContentTypeCommand,
  type StoredContentType,
  contentTypeDecider,
} from '../../domain/content/content-type.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { handleCommand } from '../handle-command.ts';
import type { TakenValues } from '../with-claims.ts';
import { type ContentTypeDependencies, changeInProgress, contentTypeStream } from './content-type-dependencies.ts';

export type AppendTypeChangeInput = {
  readonly typeId: string;
  readonly stored: StoredContentType | undefined;
  readonly command: ContentTypeCommand;
  readonly takenValues?: TakenValues | undefined;
};

/**
 * Appends a change that was decided on the stored type. An event of another process in between is refused, because the
 * statements were tried without it.
 * @param input `stored`: undefined for a new type. `taken`: of `takeTypeName`.
 * @throws `ddl_in_progress`
 */
export async function appendTypeChange(
  { typeId, stored, command, takenValues: taken }: AppendTypeChangeInput,
  context: CommandContext,
  dependencies: Pick<ContentTypeDependencies, 'eventStore' | 'types'>,
): Promise<GlobalPosition> {
  const tried = stored?.revision ?? -1;
  const { position, events } = await handleCommand(
    {
      stream: contentTypeStream(context.tenant, typeId),
      decider: contentTypeDecider,
      parse: contentTypeEvents.parse,
      snapshot: stored
        ? { state: { status: 'live', definition: stored.definition }, revision: tried }
        : { state: contentTypeDecider.initialState(), revision: -1 },
      decide(state, revision) {
        if (revision !== tried) throw changeInProgress();
        return contentTypeDecider.decide(state, command);
      },
      ...taken,
    },
    context,
    dependencies,
  );
  if (position === undefined) throw new Error('a change of a content type appended nothing');
  for (const event of events.filter(contentTypeEvents.includes))
    dependencies.types.changed(context.tenant, changedName(event), position);
  return position;
}
