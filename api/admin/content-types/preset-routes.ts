import { Type } from '@sinclair/typebox';
import { applyPreset } from '../../../application/content/apply-preset.ts';
import { deletePreset } from '../../../application/content/delete-preset.ts';
import { MODELLING, type PresetDependencies, sourcePurpose } from '../../../application/content/preset-dependencies.ts';
import { savePreset } from '../../../application/content/save-preset.ts';
import type { SavedPreset } from '../../../application/ports/saved-presets.ts';
import { BUILT_IN_PRESETS } from '../../../domain/content/built-in-presets.ts';
import type { Preset as BuiltInPreset } from '../../../domain/content/preset-events.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { NullableText, Texts, oneOf } from '../../http/schemas.ts';

const SHARED = {
  api: 'admin',
  tag: 'content',
  feature: 'schema',
  access: { kind: 'session', roles: ['admin', 'super_admin'] },
} as const;
/** Any text: an unknown id is refused as not found, not as malformed. */
const PresetParams = Type.Object({ id: Type.String() });
/** Large enough for a document of 1 MiB as a JSON string in which every character is escaped. */
const MAX_BODY_BYTES = 2_200_000;

const Preset = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  source: oneOf(['builtin', 'saved']),
  updated_at: NullableText,
  source_url: NullableText,
  schemas: Type.Array(Type.Unsafe<JsonObject>({ type: 'object', description: 'A content type definition' })),
});

export type PresetRouteDependencies = PresetDependencies;

/** Routes of presets: sets of content types that one call creates. */
export function presetRoutes(dependencies: PresetRouteDependencies): readonly Route[] {
  const { presets, entitlements, vault } = dependencies;

  const presentSaved = (
    tenant: string,
    { id, name, description, schemas, updated_at, source_url: sealed }: SavedPreset,
  ): JsonObject => {
    const source_url = sealed === null ? null : vault.openSecret(sourcePurpose(tenant, id), sealed);
    return { id, name, description, source: 'saved', updated_at, source_url, schemas };
  };

  return [
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/schemas/presets',
      operation: 'listPresets',
      summary: 'List the built-in and saved presets with their full definitions',
      grants: ['schemas:read'],
      responses: { 200: Type.Object({ presets: Type.Array(Preset), can_save: Type.Boolean() }) },
      reads: [MODELLING],
      handler: async ({ tenant }) => {
        const saved = await presets.list(tenant);
        const body = {
          presets: [...BUILT_IN_PRESETS.map(presentBuiltIn), ...saved.map((preset) => presentSaved(tenant, preset))],
          can_save: entitlements.has('schema-pro'),
        };
        return { status: 200, body };
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/schemas/presets',
      operation: 'savePreset',
      summary: 'Save a preset from a document or a URL; it replaces the one with that id',
      grants: ['schemas:write'],
      body: Type.Unknown({
        description: 'Exactly one of document (a preset as a JSON object, or YAML as a string) and url',
      }),
      malformedJson: 'invalid_json',
      maxBodyBytes: MAX_BODY_BYTES,
      responses: { 201: Preset },
      refusals: [
        'payment_required',
        'preset_id_taken',
        'preset_source_missing',
        'preset_source_ambiguous',
        'preset_url_refused',
        'preset_refused',
        'preset_schema_refused',
        'preset_unreachable',
      ],
      capability: 'schema-pro',
      handler: async ({ body, context, tenant, signal }) => {
        const { saved, position } = await savePreset({ body, signal }, context, dependencies);
        return { status: 201, body: presentSaved(tenant, saved), ...commitAt(position, [MODELLING]) };
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/schemas/presets/{id}',
      operation: 'applyPreset',
      summary: 'Create the content types of a preset',
      grants: ['schemas:write'],
      params: PresetParams,
      responses: { 201: Type.Object({ created: Texts }) },
      refusals: [
        'preset_not_found',
        'preset_schema_exists',
        'preset_schema_refused',
        'schema_table_shared',
        'schema_migration_failed',
        'ddl_in_progress',
      ],
      handler: async ({ params, context }) => {
        const { created, position } = await applyPreset(params, context, dependencies);
        return { status: 201, body: { created }, ...commitAt(position, ['content']) };
      },
    }),
    route({
      ...SHARED,
      method: 'DELETE',
      path: '/api/admin/schemas/presets/{id}',
      operation: 'deletePreset',
      summary: 'Delete a saved preset; content types created from it are kept',
      grants: ['schemas:write'],
      params: PresetParams,
      responses: { 204: null },
      refusals: ['preset_not_found', 'preset_built_in'],
      handler: async ({ params, context }) => ({
        status: 204,
        ...commitAt(await deletePreset(params, context, dependencies), [MODELLING]),
      }),
    }),
  ];
}

function presentBuiltIn({ id, name, description, schemas }: BuiltInPreset): JsonObject {
  return { id, name, description, source: 'builtin', updated_at: null, source_url: null, schemas };
}
