import { builtInPreset } from '../../domain/content/built-in-presets.ts';
import type { Preset } from '../../domain/content/preset-events.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode, isAppError, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { PresetDependencies } from './preset-dependencies.ts';
import { saveContentType } from './save-content-type.ts';

export type AppliedPreset = {
  /** Names of the created types, in the preset's order. */
  readonly created: readonly string[];
  readonly position: GlobalPosition | undefined;
};

/**
 * Creates a preset's content types, each as by `POST /api/admin/schemas`. When one fails, the types created before it
 * stay; the error's body names them in `created`.
 * @throws `preset_not_found`; `preset_schema_exists` when one of the types exists already; `preset_schema_refused`;
 *   other refusals of `saveContentType`
 */
export async function applyPreset(
  { id }: { readonly id: string },
  context: CommandContext,
  { presets, contentTypes }: Pick<PresetDependencies, 'presets' | 'contentTypes'>,
): Promise<AppliedPreset> {
  const preset: Preset | undefined = builtInPreset(id) ?? (await presets.one(context.tenant, id));
  if (!preset) throw refusal('preset_not_found');
  const existing = await contentTypes.schemaSessions.ofTenant(context.tenant);
  if (preset.schemas.some(({ name }) => existing.some((type) => type.name === name)))
    throw refusal('preset_schema_exists');
  const created: string[] = [];
  let position: GlobalPosition | undefined;
  for (const input of preset.schemas) {
    try {
      const saved = await saveContentType({ verb: 'post', input, onlyNew: true }, context, contentTypes);
      created.push(saved.definition.name);
      position = saved.position;
    } catch (error) {
      throw failurePartWay(error, typeof input['name'] === 'string' ? input['name'] : '', created);
    }
  }
  return { created, position };
}

function failurePartWay(error: unknown, name: string, created: readonly string[]): unknown {
  if (!isAppError(error)) return error;
  const body = { created };
  // Another request has created the type since the check above.
  if (hasCode(error, 'schema_exists')) return refusal('preset_schema_exists', { body });
  if (hasCode(error, 'invalid_schema'))
    return refusal('preset_schema_refused', { body, fields: [{ field: name, message: error.message }] });
  const { code, message, fields, headers } = error;
  return refusal(code, {
    message,
    body: { ...error.body, ...body },
    cause: error,
    ...(fields ? { fields } : {}),
    ...(headers ? { headers } : {}),
  });
}
