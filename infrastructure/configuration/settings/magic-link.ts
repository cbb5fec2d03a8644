import { boolean, hosts, integer, retentionDays, roleNames } from '../parsers.ts';
import { setting } from '../setting.ts';

/** Sign-in by magic link. */
export const magicLink = {
  magicLinkTtlSeconds: setting(
    'MAGIC_LINK_TTL_SECONDS',
    integer(0),
    600,
    'Lifetime of a link in seconds. Values outside 30 to 3600 are clamped.',
  ),
  magicLinkAutoCreate: setting(
    'MAGIC_LINK_AUTO_CREATE',
    boolean,
    false,
    'Creates an account when an unknown address redeems a link.',
  ),
  magicLinkAutoCreateRoles: setting(
    'MAGIC_LINK_AUTO_CREATE_ROLES',
    roleNames,
    [],
    'Roles of accounts that a link creates. A list with `admin` or `super_admin` is ignored as a whole.',
  ),
  magicLinkAllowedHosts: setting(
    'MAGIC_LINK_ALLOWED_HOSTS',
    hosts,
    [],
    'Host names, with a port where needed, that links may point to. A request through another host gets a link to `SVC_CONSOLE_URL`.',
  ),
  magicLinkRequireResolvedTenant: setting(
    'MAGIC_LINK_REQUIRE_RESOLVED_TENANT',
    boolean,
    false,
    'Refuses to issue and to redeem links unless the host of the request belongs to a tenant.',
  ),
  magicLinkRetentionDays: setting(
    'MAGIC_LINK_RETENTION_DAYS',
    retentionDays,
    365,
    'Days that the history of sign-ins by link is kept. 0 or less keeps it forever.',
    { lenient: true },
  ),
  magicLinkTokenRetentionMinutes: setting(
    'MAGIC_LINK_TOKEN_RETENTION_MINUTES',
    integer(1, 525_600),
    60,
    'Minutes after which the record of a used or expired link is deleted, counted from its creation. Checked every 15 minutes.',
  ),
} as const;
