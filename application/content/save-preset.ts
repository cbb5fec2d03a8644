import { builtInPreset } from '../../domain/content/built-in-presets.ts';
import type { PresetEvent } from '../../domain/content/preset.ts';
import { parsePresetEvent, presetDecider } from '../../domain/content/preset.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { handleCommand } from '../handle-command.ts';
import type { SavedPreset } from '../ports/saved-presets.ts';
import type { PresetDependencies } from './preset-dependencies.ts';
import { presetStream, sourcePurpose } from './preset-dependencies.ts';
import { readPresetDocument } from './read-preset-document.ts';

/**
 * Saves a preset of the tenant's own, over the one of that id (spec 2, presets). `body` is the request's, unread.
 * @throws `preset_id_taken`, the refusals of `readPresetDocument`
 */
export async function savePreset(
  { body, signal }: { readonly body: unknown; readonly signal: AbortSignal },
  context: CommandContext,
  { eventStore, vault, outbound }: Pick<PresetDependencies, 'eventStore' | 'vault' | 'outbound'>,
): Promise<{ readonly saved: SavedPreset; readonly position: GlobalPosition | undefined }> {
  const { preset, sourceUrl } = await readPresetDocument(body, { outbound, signal });
  if (builtInPreset(preset.id)) throw refusal('preset_id_taken');
  const source_url = sourceUrl === undefined ? null : vault.sealSecret(sourcePurpose(context.tenant, preset.id), sourceUrl);
  const { position, events } = await handleCommand({
    eventStore,
    stream: presetStream(context.tenant, preset.id),
    decider: presetDecider,
    parse: parsePresetEvent,
    context,
    decide: (): readonly PresetEvent[] => [{ type: 'PresetSaved', data: { preset, source_url } }],
  });
  return { saved: { ...preset, source_url, updated_at: events[0]?.metadata.occurred_at ?? '' }, position };
}
