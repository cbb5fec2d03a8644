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

const NO_CHANGES: ClaimChanges = { claimed: [], released: [] };

/** What the events of one decision do to the unique values that the entry holds. Null never collides. */
export function claimChanges(type: ContentType, events: readonly EntryEvent[], held: FieldValues): ClaimChanges {
  const unique = storedFields(type.definition).filter(({ definition }) => definition.unique === true);
  if (unique.length === 0) return NO_CHANGES;
  const claimed: UniqueClaim[] = [];
  const released: UniqueClaim[] = [];
  for (const { key, definition } of unique) {
    const claim = (values: FieldValues): readonly UniqueClaim[] => {
      const value = values[key] ?? null;
      if (value === null) return [];
      return [{ tenant: type.tenant, scope: uniqueScope(type.id, definition.id), value: uniqueKey(definition.field_type, value), field: key }];
    };
    for (const event of events) {
      if (event.type === 'EntryDeleted') released.push(...claim(held));
      if (event.type === 'EntryCreated') claimed.push(...claim(event.data.fields));
      if (event.type === 'EntryFieldsChanged' && key in event.data.fields) {
        const after = claim(event.data.fields);
        claimed.push(...after);
        released.push(...claim(held).filter(({ value }) => value !== after[0]?.value));
      }
    }
  }
  return { claimed, released };
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
export function heldClaims(type: ContentType, fields: FieldValues): readonly ClaimRequest[] {
  return storedFields(type.definition).flatMap(({ key, definition }) => {
    const value = definition.unique === true ? (fields[key] ?? null) : null;
    return value === null ? [] : [{ tenant: type.tenant, scope: uniqueScope(type.id, definition.id), value: uniqueKey(definition.field_type, value) }];
  });
}

function toRequest({ tenant, scope, value }: ClaimRequest): ClaimRequest {
  return { tenant, scope, value };
}
