import type { FieldDefinition } from '../../domain/content/definition.ts';
import { uniqueScope } from '../../domain/content/field-types.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { Claims } from '../ports/claims.ts';
import type { ContentTypeReader } from '../ports/schema-sessions.ts';
import { waitForReadModel } from '../wait-for-read-model.ts';
import { type ContentTypeDependencies, contentTypeStream } from './content-type-dependencies.ts';
import { claimsByOwner } from './existing-unique-values.ts';

/** Unique fields of a live content type. */
export type UniqueFields = {
  readonly tenant: string;
  readonly typeId: string;
  readonly name: string;
  readonly fields: readonly FieldDefinition[];
};

/**
 * Records, before fields become unique, that the type's unique values have to be checked again. Commands that began
 * under the earlier definition claim nothing for the values they write. The record is a claim that no stream ever
 * holds, so it survives a crash. The reaper finds it after all those commands have ended, and runs
 * `claimMissingValues`.
 */
export async function requestClaimBackfill(
  { tenant, typeId, fields }: Omit<UniqueFields, 'name'>,
  { claims }: { readonly claims: Pick<Claims, 'claim'> },
): Promise<void> {
  if (fields.length > 0)
    await claims.claim({
      owner: contentTypeStream(tenant, typeId),
      claimed: [{ tenant, scope: 'content_type/unique', value: typeId }],
    });
}

/**
 * Claims the values that were written before the fields became unique at `position`. Runs after the change, because the
 * read model does not advance during the change. Errors are ignored: the backfill that the reaper runs repeats the
 * work.
 */
export async function backfillUniqueClaims(
  { unique, position }: { readonly unique: UniqueFields; readonly position: GlobalPosition },
  { claims, progress, schemaSessions }: Pick<ContentTypeDependencies, 'claims' | 'progress' | 'schemaSessions'>,
): Promise<void> {
  if (unique.fields.length === 0) return;
  const isCaughtUp = await waitForReadModel({ name: 'content', position }, { progress }).catch(() => false);
  if (isCaughtUp) await claimMissingValues(unique, { claims, reader: schemaSessions }).catch(() => undefined);
}

/**
 * Claims the values of unique fields that no entry has claimed. Of two entries with the same value, one gets the claim.
 * Claims in these fields that match no stored value become unsettled; the reaper compares them with the streams.
 */
export async function claimMissingValues(
  { tenant, typeId, name, fields }: UniqueFields,
  {
    claims,
    reader,
  }: {
    readonly claims: Pick<Claims, 'backfill' | 'unsettleOthers'>;
    readonly reader: Pick<ContentTypeReader, 'valuesOf'>;
  },
): Promise<void> {
  const values = claimsByOwner({ tenant, typeId, values: await reader.valuesOf({ tenant, table: name, fields }) });
  await claims.backfill(values);
  for (const { id } of fields) await claims.unsettleOthers({ tenant, scope: uniqueScope(typeId, id), values });
}
