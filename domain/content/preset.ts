import type { SealedValue } from '../automation/webhook.ts';
import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { DomainEvent, RecordedEvent } from '../event.ts';
import type { JsonObject } from '../json.ts';

/** A small set of related content types that one call creates (spec 2, preset). */
export type Preset = {
  /** Lower-case slug. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Definitions as `POST /api/admin/schemas` takes them; a relation names its own type or one before it. */
  readonly schemas: readonly JsonObject[];
};

/** Stream `settings-<tenant>.preset.<id>`. `PresetSaved` is both creation and replacement. */
export type PresetEvent =
  /** The address may hold a credential of its owner, so it is sealed; null for a document that was sent. */
  | DomainEvent<'PresetSaved', { readonly preset: Preset; readonly source_url: SealedValue | null }>
  | DomainEvent<'PresetDeleted', { readonly id: string }>;

/** Whether a preset is there. */
export type PresetState = 'none' | 'saved';

export const presetDecider: Decider<PresetState, PresetEvent> = {
  initialState: () => 'none',
  evolve: (_state, event) => (event.type === 'PresetSaved' ? 'saved' : 'none'),
};

/** @throws `preset_not_found` */
export function deletePreset(state: PresetState, id: string): readonly PresetEvent[] {
  if (state === 'none') throw refusal('preset_not_found');
  return [{ type: 'PresetDeleted', data: { id } }];
}

/** Whether a stored event is one of a preset: the category holds other settings too. */
export function isPresetEvent(event: RecordedEvent): event is RecordedEvent & PresetEvent {
  return event.type === 'PresetSaved' || event.type === 'PresetDeleted';
}

/** @throws RangeError for an event that is none of a preset's: the stream holds what it must not */
export function parsePresetEvent(event: RecordedEvent): PresetEvent {
  if (!isPresetEvent(event)) throw new RangeError(`no event of a preset: ${event.type} in ${event.stream}`);
  return event;
}
