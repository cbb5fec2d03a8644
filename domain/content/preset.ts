import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { SealedValue } from '../sealed-value.ts';
import type { Preset, PresetEvent } from './preset-events.ts';

/** Undefined before the first event and after the deletion. */
export type PresetState = { readonly status: 'saved' } | undefined;

export type PresetCommand =
  | { readonly kind: 'save'; readonly preset: Preset; readonly sourceUrl: SealedValue | null }
  | { readonly kind: 'delete'; readonly id: string };

export const presetDecider: Decider<PresetState, PresetCommand, PresetEvent> = { initialState, decide, evolve };

function initialState(): PresetState {
  return undefined;
}

/** A save also replaces the preset. @throws `preset_not_found` */
function decide(state: PresetState, command: PresetCommand): readonly PresetEvent[] {
  switch (command.kind) {
    case 'save':
      return [{ type: 'PresetSaved', data: { preset: command.preset, source_url: command.sourceUrl } }];
    case 'delete':
      if (!state) throw refusal('preset_not_found');
      return [{ type: 'PresetDeleted', data: { id: command.id } }];
  }
}

function evolve(_state: PresetState, event: PresetEvent): PresetState {
  switch (event.type) {
    case 'PresetSaved':
      return { status: 'saved' };
    case 'PresetDeleted':
      return undefined;
  }
}
