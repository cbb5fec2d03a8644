import { boolean, hosts, integer, retentionDays, roleNames } from '../parsers.ts';
import { setting } from '../setting.ts';

/** Magic-link sign-in (spec 1). */
export const magicLink = {
  magicLinkTtlSeconds: setting('MAGIC_LINK_TTL_SECONDS', integer(0), 600, 'Seconds that a link works; held between 30 and 3600.'),
  magicLinkAutoCreate: setting('MAGIC_LINK_AUTO_CREATE', boolean, false, 'Makes an account for an unknown address that redeems a link.'),
  magicLinkAutoCreateRoles: setting('MAGIC_LINK_AUTO_CREATE_ROLES', roleNames, [], 'Roles of such accounts; a list that names `admin` or `super_admin` is dropped as a whole.'),
  magicLinkAllowedHosts: setting('MAGIC_LINK_ALLOWED_HOSTS', hosts, [], 'Host names, with a port where links need one, that links may be built on; requests from other hosts get a link on the console URL.'),
  magicLinkRequireResolvedTenant: setting('MAGIC_LINK_REQUIRE_RESOLVED_TENANT', boolean, false, 'Refuses to issue and redeem unless the host of the request resolves a tenant.'),
  magicLinkRetentionDays: setting('MAGIC_LINK_RETENTION_DAYS', retentionDays, 365, 'Days that the history of sign-ins by link is kept; 0 or less keeps everything.', { lenient: true }),
  magicLinkTokenRetentionMinutes: setting('MAGIC_LINK_TOKEN_RETENTION_MINUTES', integer(1, 525_600), 60, 'Minutes after its making that the record of a link is removed, once it works no more; checked every 15 minutes.'),
} as const;
