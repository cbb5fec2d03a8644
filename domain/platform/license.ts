import { DAY_MS } from '../durations.ts';
import { ownValue } from '../own-value.ts';
/** Paid capabilities that a license can grant. */
export const CAPABILITIES = [
  'alerts-pro',
  'apikey-pro',
  'config-sync',
  'content-pro',
  'flow-pro',
  'localization-pro',
  'media-pro',
  'migration-toolkit',
  'rate-limit-pro',
  'schema-pro',
  'webhook-pro',
] as const;

export type Capability = (typeof CAPABILITIES)[number];

/** Claim `iss` of every license token. */
export const LICENSE_ISSUER = 'palimpsest-license';

/** The claims of a license token with a valid signature. `phaseOf` tells whether the license is in force. */
export type License = {
  /** The licensee. */
  readonly subject: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly capabilities: readonly Capability[];
  readonly plan: string;
  /** Absolute http or https URLs by name, such as `upgrade`. */
  readonly links: Readonly<Record<string, string>>;
};

/**
 * A license is active until it expires, then in its grace period for 7 days, then lapsed. It grants capabilities until
 * it has lapsed.
 */
export type LicensePhase = 'active' | 'grace' | 'lapsed';

/** Length of the grace period. */
const GRACE_MS = 7 * DAY_MS;
/** How long before its expiry a license is renewed at the license server. */
const RENEWAL_MS = 7 * DAY_MS;

/** Names of capabilities in older licenses. */
const LEGACY: Readonly<Record<string, Capability>> = { 'cron-pro': 'alerts-pro' };
const LATEST_SECONDS = 8_640_000_000_000;

/** End of the grace period. */
export function graceUntil({ expiresAt }: Pick<License, 'expiresAt'>): Date {
  return new Date(expiresAt.getTime() + GRACE_MS);
}

export function phaseOf(license: Pick<License, 'expiresAt'>, now: Date): LicensePhase {
  if (now < license.expiresAt) return 'active';
  return now < graceUntil(license) ? 'grace' : 'lapsed';
}

/** Whether a license expires so soon that it must be renewed; also true after its expiry. */
export function isRenewalDue({ expiresAt }: Pick<License, 'expiresAt'>, now: Date): boolean {
  return now.getTime() >= expiresAt.getTime() - RENEWAL_MS;
}

/**
 * Parses the claims of a token with a valid signature. Ignores capabilities that this version does not know.
 * @returns undefined when the token is not a license
 */
export function parseLicenseClaims(claims: Readonly<Record<string, unknown>>): License | undefined {
  const { iss, sub, iat, exp, capabilities, links, plan } = claims;
  if (
    iss !== LICENSE_ISSUER ||
    typeof sub !== 'string' ||
    sub === '' ||
    !isSeconds(iat) ||
    !isSeconds(exp) ||
    !Array.isArray(capabilities)
  )
    return undefined;
  return {
    subject: sub,
    issuedAt: new Date(iat * 1000),
    expiresAt: new Date(exp * 1000),
    capabilities: CAPABILITIES.filter((capability) =>
      capabilities.some(
        (name) => name === capability || (typeof name === 'string' && ownValue(LEGACY, name) === capability),
      ),
    ),
    plan: typeof plan === 'string' && plan !== '' ? plan : 'licensed',
    links: linksOf(links),
  };
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 && value < LATEST_SECONDS;
}

/** Keeps only http and https URLs, because people see and click the links. */
function linksOf(links: unknown): Readonly<Record<string, string>> {
  if (typeof links !== 'object' || links === null || Array.isArray(links)) return {};
  const web = Object.entries(links).filter((entry): entry is [string, string] => {
    const [, value] = entry as [string, unknown];
    return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
  });
  return Object.fromEntries(web);
}
