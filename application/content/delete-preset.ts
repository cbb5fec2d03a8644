import { builtInPreset } from '../../domain/content/built-in-presets.ts';
import { presetEvents } from '../../domain/content/preset-events.ts';
import { presetDecider } from '../../domain/content/preset.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { handleCommand } from '../handle-command.ts';
import { type PresetDependencies, presetStream } from './preset-dependencies.ts';

/** Deletes a saved preset. The content types made from it stay. @throws `preset_built_in`, `preset_not_found` */
export async function deletePreset(
  { id }: { readonly id: string },
  context: CommandContext,
  { eventStore, presets }: Pick<PresetDependencies, 'eventStore' | 'presets'>,
): Promise<GlobalPosition | undefined> {
  if (builtInPreset(id)) throw refusal('preset_built_in');
  if (!(await presets.one(context.tenant, id))) throw refusal('preset_not_found');
  const { position } = await handleCommand(
    {
      stream: presetStream(context.tenant, id),
      decider: presetDecider,
      parse: presetEvents.parse,
      decide: (state) => presetDecider.decide(state, { kind: 'delete', id }),
    },
    context,
    { eventStore },
  );
  return position;
}
