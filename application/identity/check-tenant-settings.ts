import { type FieldError, refusal } from '../../domain/errors.ts';
import { normaliseDomain } from '../../domain/identity/normalise-domain.ts';
import type { TenantSettings } from '../../domain/identity/tenant-events.ts';

/** Validates and normalises the given settings of a tenant. @throws `validation_failed` with `fields` */
export function checkTenantSettings(settings: Partial<TenantSettings>): Partial<TenantSettings> {
  const fields: FieldError[] = [];
  const name = settings.name?.trim();
  if (name === '') fields.push({ field: 'name', message: 'must not be empty' });
  const domains = settings.domains?.map(normaliseDomain);
  if (domains?.includes(undefined) === true) fields.push({ field: 'domains', message: 'must be host names' });
  if (fields.length > 0) throw refusal('validation_failed', { fields });
  return {
    ...(name === undefined ? {} : { name }),
    ...(domains === undefined ? {} : { domains: [...new Set(domains.filter((domain) => domain !== undefined))] }),
    ...(settings.disabled === undefined ? {} : { disabled: settings.disabled }),
  };
}
