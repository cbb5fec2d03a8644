import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { SealedValue } from '../sealed-value.ts';
import type { Preset, PresetEvent } from './preset-events.ts';

/** Whether the preset exists. */
export type PresetState = 'none' | 'saved';

export type PresetCommand =
  | { readonly kind: 'save'; readonly preset: Preset; readonly sourceUrl: SealedValue | null }
  | { readonly kind: 'delete'; readonly id: string };

export const presetDecider: Decider<PresetState, PresetCommand, PresetEvent> = {
  initialState: () => 'none',
  decide,
  evolve: (_state, event) => (event.type === 'PresetSaved' ? 'saved' : 'none'),
};

/** @throws `preset_not_found` */
function decide(state: PresetState, command: PresetCommand): readonly PresetEvent[] {
  if (command.kind === 'save')
    return [{ type: 'PresetSaved', data: { preset: command.preset, source_url: command.sourceUrl } }];
  if (state === 'none') throw refusal('preset_not_found');
  return [{ type: 'PresetDeleted', data: { id: command.id } }];
}
