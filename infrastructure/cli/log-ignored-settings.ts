import type { Logger } from '../../application/ports/logger.ts';
import type { ReadSettings } from '../configuration/read-settings.ts';
import type { StartLayers } from '../configuration/start-layers.ts';

/** Warns about settings that have no effect: unknown names of the settings file, and values that do not parse. */
export function logIgnoredSettings(
  { ignored, file }: Pick<ReadSettings, 'ignored'> & Pick<StartLayers, 'file'>,
  logger: Pick<Logger, 'warn'>,
): void {
  for (const unknown of file.unknown) logger.warn('an unknown setting is ignored', { setting: unknown });
  for (const { variable, remedy } of ignored) logger.warn('the value of a setting is ignored', { variable, remedy });
}
