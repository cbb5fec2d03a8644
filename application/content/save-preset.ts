import { builtInPreset } from '../../domain/content/built-in-presets.ts';
import { presetEvents } from '../../domain/content/preset-events.ts';
import { presetDecider } from '../../domain/content/preset.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { handleCommand } from '../handle-command.ts';
import type { SavedPreset } from '../ports/saved-presets.ts';
import { type PresetDependencies, presetStream, sourcePurpose } from './preset-dependencies.ts';
import { readPresetDocument } from './read-preset-document.ts';

/**
 * Saves a preset of the tenant and replaces the one with the same id. `body` is the unvalidated request body.
 * @throws `preset_id_taken` for the id of a built-in preset; the refusals of `readPresetDocument`
 */
export async function savePreset(
  { body, signal }: { readonly body: unknown; readonly signal: AbortSignal },
  context: CommandContext,
  { eventStore, vault, outbound }: Pick<PresetDependencies, 'eventStore' | 'vault' | 'outbound'>,
): Promise<{ readonly saved: SavedPreset; readonly position: GlobalPosition | undefined }> {
  const { preset, sourceUrl } = await readPresetDocument({ body, signal }, { outbound });
  if (builtInPreset(preset.id)) throw refusal('preset_id_taken');
  const sealedUrl =
    sourceUrl === undefined ? null : vault.sealSecret(sourcePurpose(context.tenant, preset.id), sourceUrl);
  const { position, events } = await handleCommand(
    {
      stream: presetStream(context.tenant, preset.id),
      decider: presetDecider,
      parse: presetEvents.parse,
      decide: (state) => presetDecider.decide(state, { kind: 'save', preset, sourceUrl: sealedUrl }),
    },
    context,
    { eventStore },
  );
  return { saved: { ...preset, source_url: sealedUrl, updated_at: events[0]?.metadata.occurred_at ?? '' }, position };
}
