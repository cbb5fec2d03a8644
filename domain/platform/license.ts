/** Paid capabilities that a license may name (spec 1, what the service does, 4). */
export const CAPABILITIES = [
  'alerts-pro', 'apikey-pro', 'config-sync', 'content-pro', 'flow-pro', 'localization-pro', 'media-pro', 'migration-toolkit', 'rate-limit-pro', 'schema-pro', 'webhook-pro',
] as const;

export type Capability = (typeof CAPABILITIES)[number];

/** `iss` of every license (spec 4 A, license). */
export const LICENSE_ISSUER = 'palimpsest-license';

/** What a signed token says. Its signature was checked before; whether it is in force is a question of time. */
export type License = {
  /** Whose it is. */
  readonly subject: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly capabilities: readonly Capability[];
  readonly plan: string;
  /** Absolute http or https URLs by name, such as `upgrade`. */
  readonly links: Readonly<Record<string, string>>;
};

/** Before its end a license is active, for 7 days more its features keep running, then it has lapsed (spec 1, license). */
export type LicensePhase = 'active' | 'grace' | 'lapsed';

const DAY_MS = 86_400_000;
/** How long paid features outlive their license. */
export const GRACE_MS = 7 * DAY_MS;
/** How long before its end a license is renewed by the license server. */
export const RENEWAL_MS = 7 * DAY_MS;

/** Names that older licenses use (spec 3, limits). */
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

/** Whether a license ends so soon that it is to be renewed; true also once it has ended. */
export function isDue({ expiresAt }: Pick<License, 'expiresAt'>, now: Date): boolean {
  return now.getTime() >= expiresAt.getTime() - RENEWAL_MS;
}

/**
 * Reads the claims of a token whose signature is right (spec 4 A, license). Capabilities that this version does not know are passed over.
 * @returns undefined when it is no license
 */
export function parseLicenseClaims(claims: Readonly<Record<string, unknown>>): License | undefined {
  const { iss, sub, iat, exp, capabilities, links, plan } = claims;
  if (iss !== LICENSE_ISSUER || typeof sub !== 'string' || sub === '' || !isSeconds(iat) || !isSeconds(exp) || !Array.isArray(capabilities)) return undefined;
  return {
    subject: sub,
    issuedAt: new Date(iat * 1000),
    expiresAt: new Date(exp * 1000),
    capabilities: CAPABILITIES.filter((known) => capabilities.some((name) => name === known || (typeof name === 'string' && LEGACY[name] === known))),
    plan: typeof plan === 'string' && plan !== '' ? plan : 'licensed',
    links: linksOf(links),
  };
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 && value < LATEST_SECONDS;
}

/** Links are shown to people: nothing but web addresses passes. */
function linksOf(links: unknown): Readonly<Record<string, string>> {
  if (typeof links !== 'object' || links === null || Array.isArray(links)) return {};
  const web = Object.entries(links).filter((entry): entry is [string, string] => {
    const [, value] = entry as [string, unknown];
    return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
  });
  return Object.fromEntries(web);
}
