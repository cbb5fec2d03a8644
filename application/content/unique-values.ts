import type { ContentType } from '../../domain/content/content-type.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import { uniqueKey, uniqueScope } from '../../domain/content/field-types.ts';
import type { EntryEvent, FieldValues } from '../../domain/content/events.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { FieldError } from '../../domain/errors.ts';
import type { ClaimRequest, Claims } from '../ports/claims.ts';

/** A claim and the field it is for. */
export type UniqueClaim = ClaimRequest & { readonly field: string };

/** Claims that events make and those they let go. */
export type ClaimChanges = { readonly claimed: readonly UniqueClaim[]; readonly released: readonly UniqueClaim[] };


/** What of an entry is unique: values of fields, and its slug. */
export type UniqueValues = { readonly fields: FieldValues; readonly slug?: string | undefined };

/** An entry that is not there. */
export const HOLDS_NOTHING: UniqueValues = { fields: {} };

/** What the events of one decision do to the unique values that the entry holds. Null never collides. */
export function claimChanges(type: ContentType, events: readonly EntryEvent[], held: UniqueValues): ClaimChanges {
  let holds = uniqueClaims(type, held);
  const claimed: UniqueClaim[] = [];
  const released: UniqueClaim[] = [];
  for (const event of events) {
    const after = claimsAfter(type, event, holds);
    if (after === holds) continue;
    claimed.push(...without(after, holds));
    released.push(...without(holds, after));
    holds = after;
  }
  return { claimed, released };
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
      const kept = before.filter(({ scope, field }) => (scope === slugScope(type) ? slug === undefined : !(field in fields)));
      return [...kept, ...uniqueClaims(type, event.data)];
    }
    default:
      return before;
  }
}

function without(claims: readonly UniqueClaim[], others: readonly UniqueClaim[]): readonly UniqueClaim[] {
  return claims.filter((claim) => !others.some(({ scope, value }) => scope === claim.scope && value === claim.value));
}

/** Claims before the append, and says what it will give up. @throws `unique_value_held` with the fields */
export async function claimAll(claims: Claims, owner: string, { claimed, released }: ClaimChanges, command: string): Promise<void> {
  if (claimed.length + released.length === 0) return;
  const fields = heldFields(claimed, await claims.claim(owner, claimed.map(toRequest), released.map(toRequest), command));
  if (fields.length > 0) throw refusal('unique_value_held', { fields });
}

/** Names the fields of claims that others hold. */
export function heldFields(wanted: readonly UniqueClaim[], held: readonly ClaimRequest[]): readonly FieldError[] {
  return wanted
    .filter(({ scope, value }) => held.some((other) => other.scope === scope && other.value === value))
    .map(({ field }) => ({ field, message: 'unique value already held' }));
}

/**
 * Settles the claims that a command touched in any of its decisions, once the entry holds `held`. A failure here is mended by the claims'
 * reaper, which asks the owner's stream.
 */
export async function settleClaims(claims: Claims, owner: string, { touched, held }: { readonly touched: readonly ClaimRequest[]; readonly held: readonly ClaimRequest[] }, command: string): Promise<void> {
  if (touched.length === 0) return;
  const isHeld = ({ scope, value }: ClaimRequest): boolean => held.some((other) => other.scope === scope && other.value === value);
  const requests = touched.map(toRequest);
  await claims.confirm(owner, requests.filter(isHeld), requests.filter((request) => !isHeld(request)), command).catch(() => undefined);
}

/** Gives claims back after an append that did not happen; after one of unknown outcome they stay for the reaper to judge. */
export async function abandonClaims(claims: Claims, owner: string, touched: readonly ClaimRequest[], { error, command }: { readonly error?: unknown; readonly command: string }): Promise<void> {
  if (touched.length === 0 || hasCode(error, 'outcome_unknown')) return;
  await claims.abandon(owner, touched.map(toRequest), command).catch(() => undefined);
}

/** The unique values of a type that an entry with these values holds. */
export function heldClaims(type: ContentType, held: UniqueValues): readonly ClaimRequest[] {
  return uniqueClaims(type, held).map(toRequest);
}

/** The same with the fields that they are for. */
export function uniqueClaims(type: ContentType, { fields, slug }: UniqueValues): readonly UniqueClaim[] {
  const ofFields = storedFields(type.definition).flatMap(({ key, definition }) => {
    const value = definition.unique === true ? (fields[key] ?? null) : null;
    return value === null ? [] : [{ tenant: type.tenant, scope: uniqueScope(type.id, definition.id), value: uniqueKey(definition.field_type, value), field: key }];
  });
  return slug === undefined ? ofFields : [...ofFields, { tenant: type.tenant, scope: slugScope(type), value: slug, field: 'slug' }];
}

/** Ids of fields are UUIDs, so that no field has this scope. */
function slugScope(type: ContentType): string {
  return uniqueScope(type.id, 'slug');
}

function toRequest({ tenant, scope, value }: ClaimRequest): ClaimRequest {
  return { tenant, scope, value };
}
