import { builtInPreset } from '../../domain/content/built-in-presets.ts';
import { deletePreset as decide, parsePresetEvent, presetDecider } from '../../domain/content/preset.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { handleCommand } from '../handle-command.ts';
import type { PresetDependencies } from './preset-dependencies.ts';
import { presetStream } from './preset-dependencies.ts';

/** Removes a saved preset; content types made from it stay. @throws `preset_built_in`, `preset_not_found` */
export async function deletePreset(id: string, context: CommandContext, { eventStore, presets }: Pick<PresetDependencies, 'eventStore' | 'presets'>): Promise<GlobalPosition | undefined> {
  if (builtInPreset(id)) throw refusal('preset_built_in');
  if (!(await presets.one(context.tenant, id))) throw refusal('preset_not_found');
  const { position } = await handleCommand({ eventStore, stream: presetStream(context.tenant, id), decider: presetDecider, parse: parsePresetEvent, context, decide: (state) => decide(state, id) });
  return position;
}
