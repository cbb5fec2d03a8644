import type { FieldError } from '../errors.ts';
import { refusal } from '../errors.ts';
import type { AdminGrant } from './admin-grants.ts';
import { isAdminGrant } from './admin-grants.ts';
import { daysAfter, isTooLate } from './expiry.ts';

const DEFAULT_DAYS = 30;
const MAX_NAME_LENGTH = 200;

/**
 * Checks what is asked of a new admin token (spec 4 A, admin tokens). @returns its grants without repeats
 * @throws `unknown_grant`, `validation_failed`
 */
export function checkNewAdminToken({ name, grants }: { readonly name: string; readonly grants: readonly string[] }): readonly AdminGrant[] {
  const known = new Set<AdminGrant>();
  for (const grant of grants) {
    if (!isAdminGrant(grant)) throw refusal('unknown_grant', { message: `unknown grant: ${grant}` });
    known.add(grant);
  }
  const fields: FieldError[] = [];
  if (name.trim() === '') fields.push({ field: 'name', message: 'must hold text' });
  if (name.length > MAX_NAME_LENGTH) fields.push({ field: 'name', message: `must hold at most ${MAX_NAME_LENGTH} characters` });
  if (known.size === 0) fields.push({ field: 'grants', message: 'must hold a grant at least' });
  if (fields.length > 0) throw refusal('validation_failed', { fields });
  return [...known];
}

/**
 * When a token's secret ends: at most 90 days from now. Unless asked for, a new one lives 30 days, a replacement as long as the secret before it was made for.
 * @throws `admin_token_expires_late`, `validation_failed` for a moment that has passed
 */
export function expiryOfAdminToken({ asked, before, now }: {
  readonly asked: Date | undefined;
  readonly before: { readonly issuedAt: Date; readonly expiresAt: Date } | undefined;
  readonly now: Date;
}): Date {
  if (asked === undefined) return before === undefined ? daysAfter(DEFAULT_DAYS, now) : new Date(now.getTime() + before.expiresAt.getTime() - before.issuedAt.getTime());
  if (asked <= now) throw refusal('validation_failed', { fields: [{ field: 'expires_at', message: 'must lie in the future' }] });
  if (isTooLate(asked, now)) throw refusal('admin_token_expires_late');
  return asked;
}
