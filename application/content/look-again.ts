import type { FieldDefinition } from '../../domain/content/definition.ts';
import { uniqueScope } from '../../domain/content/field-types.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { Claims } from '../ports/claims.ts';
import type { ContentTypeReader } from '../ports/schema-workbench.ts';
import { contentTypeStream } from './change-content-type.ts';
import type { ContentTypeDependencies } from './change-content-type.ts';
import { claimsOf } from './existing-unique-values.ts';

/** Fields of a content type in force that are unique. */
export type UniqueFields = { readonly tenant: string; readonly typeId: string; readonly name: string; readonly fields: readonly FieldDefinition[] };

const CATCH_UP_MS = 5000;

/**
 * Before the event under which fields become unique: commands that began under the definition before claim nothing for the values they write. The
 * note is a claim that no stream ever holds; it outlives this process, and when the reaper asks for it, which is when no such command runs any
 * more, the type's unique values are looked through (spec 5, rule 8).
 */
export async function noteToLookAgain({ tenant, typeId, fields }: UniqueFields, claims: Claims): Promise<void> {
  if (fields.length > 0) await claims.claim(contentTypeStream(tenant, typeId), [{ tenant, scope: 'content_type/unique', value: typeId }]);
}

/** After it, and outside the change, which keeps the read model from moving: values that slipped in before the event are claimed. What goes wrong here the reaper's look mends. */
export async function lookAgain(becoming: UniqueFields, position: GlobalPosition, { claims, waitFor, workbench }: Pick<ContentTypeDependencies, 'claims' | 'waitFor' | 'workbench'>): Promise<void> {
  if (becoming.fields.length === 0) return;
  const seen = await waitFor(['content'], position, CATCH_UP_MS).catch(() => false);
  if (seen) await claimUnclaimed(becoming, { claims, reader: workbench }).catch(() => undefined);
}

/**
 * Claims values that entries hold in unique fields and that nobody has claimed; of two entries that hold the same, one has it from then on. What is
 * claimed beyond them, by commands that began before, the reaper asks the streams about.
 */
export async function claimUnclaimed(
  { tenant, typeId, name, fields }: UniqueFields,
  { claims, reader }: { readonly claims: Pick<Claims, 'assume' | 'doubtOthers'>; readonly reader: Pick<ContentTypeReader, 'valuesOf'> },
): Promise<void> {
  const values = claimsOf(tenant, typeId, await reader.valuesOf({ tenant, table: name, fields }));
  await claims.assume(values);
  for (const { id } of fields) await claims.doubtOthers({ tenant, scope: uniqueScope(typeId, id) }, values);
}
