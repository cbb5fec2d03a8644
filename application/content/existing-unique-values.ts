import type { FieldDefinition } from '../../domain/content/definition.ts';
import { uniqueKey, uniqueScope } from '../../domain/content/field-types.ts';
import { refusal } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import { streamName } from '../../domain/stream.ts';
import type { ClaimRequest } from '../ports/claims.ts';
import type { ClaimSession } from '../with-claims.ts';

/** A field value that an entry of the type holds. */
export type StoredValue = { readonly entryId: string; readonly field: FieldDefinition; readonly value: Json };

/** Claims of entries, by the entry's stream. */
export type ClaimsByOwner = ReadonlyMap<string, readonly ClaimRequest[]>;

/** The claims for stored values, in the scopes of their fields. */
export function claimsByOwner({
  tenant,
  typeId,
  values,
}: {
  readonly tenant: string;
  readonly typeId: string;
  readonly values: readonly StoredValue[];
}): ClaimsByOwner {
  const owners = new Map<string, ClaimRequest[]>();
  for (const { entryId, field, value } of values) {
    const owner = streamName({ category: 'entry', tenant, id: entryId });
    const requests = owners.get(owner) ?? [];
    requests.push({ tenant, scope: uniqueScope(typeId, field.id), value: uniqueKey(field.field_type, value) });
    owners.set(owner, requests);
  }
  return owners;
}

/**
 * Claims what entries hold in fields that become unique, and marks as released what they held in fields that change,
 * unless they still hold it.
 * @throws `schema_migration_failed` when two entries hold the same value
 */
export async function claimExistingValues(
  { before, after }: { readonly before: ClaimsByOwner; readonly after: ClaimsByOwner },
  session: Pick<ClaimSession, 'claim'>,
): Promise<void> {
  for (const [owner, claimed] of after) {
    const held = await session.claim({ owner, claimed });
    if (held.length > 0) throw refusal('schema_migration_failed');
  }
  for (const [owner, requests] of before) {
    const kept = after.get(owner) ?? [];
    const released = requests.filter(
      (request) => !kept.some(({ scope, value }) => scope === request.scope && value === request.value),
    );
    await session.claim({ owner, claimed: [], released });
  }
}
