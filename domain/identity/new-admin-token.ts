import { type FieldError, invalidField, refusal } from '../errors.ts';
import { type AdminGrant, isAdminGrant } from './admin-grants.ts';
import { daysAfter, exceedsMaximumLifetime } from './expiry.ts';

const DEFAULT_DAYS = 30;
const MAX_NAME_LENGTH = 200;

/**
 * Checks the name and the grants of a new admin token.
 * @returns the grants without repeats
 * @throws `unknown_grant`, `validation_failed`
 */
export function checkNewAdminToken({
  name,
  grants,
}: {
  readonly name: string;
  readonly grants: readonly string[];
}): readonly AdminGrant[] {
  const grantSet = new Set<AdminGrant>();
  for (const grant of grants) {
    if (!isAdminGrant(grant)) throw refusal('unknown_grant', { message: `unknown grant: ${grant}` });
    grantSet.add(grant);
  }
  const fields: FieldError[] = [];
  if (name.trim() === '') fields.push({ field: 'name', message: 'must not be empty' });
  if (name.length > MAX_NAME_LENGTH)
    fields.push({ field: 'name', message: `must have at most ${MAX_NAME_LENGTH} characters` });
  if (grantSet.size === 0) fields.push({ field: 'grants', message: 'must contain at least one grant' });
  if (fields.length > 0) throw refusal('validation_failed', { fields });
  return [...grantSet];
}

/**
 * Expiry of a token's secret: at most 90 days from now. By default a new token lives 30 days, and a replacement secret
 * as long as the secret that it replaces.
 * @throws `admin_token_expires_late`, `validation_failed` when the expiry is in the past
 */
export function expiryOfAdminToken({
  requested,
  before,
  now,
}: {
  readonly requested: Date | undefined;
  readonly before: { readonly issuedAt: Date; readonly expiresAt: Date } | undefined;
  readonly now: Date;
}): Date {
  if (requested === undefined)
    return before === undefined
      ? daysAfter(DEFAULT_DAYS, now)
      : new Date(now.getTime() + before.expiresAt.getTime() - before.issuedAt.getTime());
  if (requested <= now) throw invalidField('expires_at', 'must be in the future');
  if (exceedsMaximumLifetime(requested, now)) throw refusal('admin_token_expires_late');
  return requested;
}
