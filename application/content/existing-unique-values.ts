import type { FieldDefinition } from '../../domain/content/definition.ts';
import { uniqueKey, uniqueScope } from '../../domain/content/field-types.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import { streamName } from '../../domain/stream.ts';
import type { ClaimRequest, Claims } from '../ports/claims.ts';

/** A value that an entry of the type holds today. */
export type StoredValue = { readonly entryId: string; readonly field: FieldDefinition; readonly value: Json };

/** Claims of entries, by the entry's stream. */
type ClaimsByOwner = ReadonlyMap<string, readonly ClaimRequest[]>;

/** Claims that stored values stand for in the fields' scopes. */
export function claimsOf(tenant: string, typeId: string, values: readonly StoredValue[]): ClaimsByOwner {
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
 * Claims the values that entries hold in fields that become unique, while `work` appends; nothing stays claimed where it fails.
 * @throws `schema_migration_failed` when a value is held by another entry
 */
export async function claimingExisting<T>(wanted: ClaimsByOwner, { claims, command }: { readonly claims: Claims; readonly command: string }, work: () => Promise<T>): Promise<T> {
  const taken: [string, readonly ClaimRequest[]][] = [];
  try {
    for (const [owner, requests] of wanted) {
      if ((await claims.claim(owner, requests, [], command)).length > 0) throw refusal('schema_migration_failed');
      taken.push([owner, requests]);
    }
    const result = await work();
    // What this leaves undone the claims' reaper does, which asks the entries' streams.
    for (const [owner, requests] of taken) await claims.confirm(owner, requests, [], command).catch(() => undefined);
    return result;
  } catch (error) {
    if (!hasCode(error, 'outcome_unknown')) for (const [owner, requests] of taken) await claims.abandon(owner, requests, command).catch(() => undefined);
    throw error;
  }
}

/**
 * Sets the values free that entries hold in fields as they were, but for those that they hold in the fields as they are, when `work` has
 * appended.
 */
export async function releasingExisting<T>(
  { going, staying }: { readonly going: ClaimsByOwner; readonly staying: ClaimsByOwner },
  { claims, command }: { readonly claims: Claims; readonly command: string },
  work: () => Promise<T>,
): Promise<T> {
  const leaving = [...going].map(([owner, requests]) => {
    const kept = staying.get(owner) ?? [];
    return [owner, requests.filter((request) => !kept.some(({ scope, value }) => scope === request.scope && value === request.value))] as const;
  });
  for (const [owner, released] of leaving) await claims.claim(owner, [], released, command);
  const result = await work();
  for (const [owner, released] of leaving) await claims.confirm(owner, [], released, command).catch(() => undefined);
  return result;
}
