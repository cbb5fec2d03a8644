import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryEvent, FieldValues } from '../../domain/content/entry-events.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import { uniqueKey, uniqueScope } from '../../domain/content/field-types.ts';
import { type FieldError, refusal } from '../../domain/errors.ts';
import { ownValue } from '../../domain/own-value.ts';
import type { ClaimRequest } from '../ports/claims.ts';
import type { ClaimSession } from '../with-claims.ts';

/** A claim and the field it belongs to. */
export type UniqueClaim = ClaimRequest & { readonly field: string };

/** The unique values that events take and give up. */
export type ClaimChanges = { readonly claimed: readonly UniqueClaim[]; readonly released: readonly UniqueClaim[] };

/** The parts of an entry that may be unique: field values and the slug. */
export type UniqueValues = { readonly fields: FieldValues; readonly slug?: string | undefined };

/** The unique values of an entry that does not exist. */
export const NO_UNIQUE_VALUES: UniqueValues = { fields: {} };

/**
 * How the events of one decision change the unique values that the entry holds: from before the first to after the last
 * event. Null is never claimed.
 */
export function claimChanges({
  type,
  events,
  held,
}: {
  readonly type: ContentType;
  readonly events: readonly EntryEvent[];
  readonly held: UniqueValues;
}): ClaimChanges {
  const before = uniqueClaims(type, held);
  const after = events.reduce((holds, event) => claimsAfter(type, event, holds), before);
  return after === before
    ? { claimed: [], released: [] }
    : { claimed: without(after, before), released: without(before, after) };
}

function claimsAfter(type: ContentType, event: EntryEvent, before: readonly UniqueClaim[]): readonly UniqueClaim[] {
  switch (event.type) {
    case 'EntryCreated':
      return uniqueClaims(type, event.data);
    case 'EntryUndeleted':
      return uniqueClaims(type, event.data.whole);
    case 'EntryDeleted':
      return [];
    case 'EntryFieldsChanged': {
      const { fields, slug } = event.data;
      const unchanged = before.filter(({ scope, field }) =>
        scope === slugScope(type) ? slug === undefined : !Object.hasOwn(fields, field),
      );
      return [...unchanged, ...uniqueClaims(type, event.data)];
    }
    default:
      return before;
  }
}

function without(claims: readonly UniqueClaim[], others: readonly UniqueClaim[]): readonly UniqueClaim[] {
  return claims.filter((claim) => !others.some(({ scope, value }) => scope === claim.scope && value === claim.value));
}

/** Takes the unique values of a decision with its append. @throws `unique_value_held` with the fields */
export async function takeUniqueValues(
  { owner, claimed, released }: ClaimChanges & { readonly owner: string },
  session: Pick<ClaimSession, 'take'>,
): Promise<void> {
  refuseHeldValues(claimed, await session.take({ owner, claimed, released }));
}

/** @throws `unique_value_held` with the fields whose values other streams hold */
export function refuseHeldValues(claims: readonly UniqueClaim[], held: readonly ClaimRequest[]): void {
  const fields = heldFields(claims, held);
  if (fields.length > 0) throw refusal('unique_value_held', { fields });
}

/** One error for each claim that another stream holds. */
export function heldFields(claims: readonly UniqueClaim[], held: readonly ClaimRequest[]): readonly FieldError[] {
  return claims
    .filter(({ scope, value }) => held.some((other) => other.scope === scope && other.value === value))
    .map(({ field }) => ({ field, message: 'unique value already held' }));
}

/** The claims of an entry with these values. */
export function heldClaims(type: ContentType, held: UniqueValues): readonly ClaimRequest[] {
  return uniqueClaims(type, held).map(({ tenant, scope, value }) => ({ tenant, scope, value }));
}

/** The claims of an entry with these values, with the fields they belong to. */
export function uniqueClaims(type: ContentType, { fields, slug }: UniqueValues): readonly UniqueClaim[] {
  const ofFields = storedFields(type.definition).flatMap(({ key, definition }) => {
    const value = definition.unique === true ? (ownValue(fields, key) ?? null) : null;
    return value === null
      ? []
      : [
          {
            tenant: type.tenant,
            scope: uniqueScope(type.id, definition.id),
            value: uniqueKey(definition.field_type, value),
            field: key,
          },
        ];
  });
  return slug === undefined
    ? ofFields
    : [...ofFields, { tenant: type.tenant, scope: slugScope(type), value: slug, field: 'slug' }];
}

/** Text that identifies a unique value within a tenant. */
export function claimKey({ scope, value }: Pick<ClaimRequest, 'scope' | 'value'>): string {
  return JSON.stringify([scope, value]);
}

/** No field has this scope, because the ids of fields are UUIDs. */
function slugScope(type: ContentType): string {
  return uniqueScope(type.id, 'slug');
}
