import type { PasswordPolicy } from '../../domain/identity/password-policy.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { ApiKeyRequests } from '../ports/api-key-requests.ts';
import type { Authenticators } from '../ports/authenticators.ts';
import type { Claims } from '../ports/claims.ts';
import type { Entitlements } from '../ports/entitlements.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Exclusive } from '../ports/exclusive.ts';
import type { DeviceSignIns } from '../ports/device-sign-ins.ts';
import type { MagicLinks } from '../ports/magic-links.ts';
import type { Mailer } from '../ports/mailer.ts';
import type { PasswordResets } from '../ports/password-resets.ts';
import type { Passwords } from '../ports/passwords.ts';
import type { Protections } from '../ports/protections.ts';
import type { RandomSecrets } from '../ports/random-secrets.ts';
import type { RateCounters } from '../ports/rate-counters.ts';
import type { SessionTokens } from '../ports/session-tokens.ts';
import type { Sessions } from '../ports/sessions.ts';
import type { SignInChallenges } from '../ports/sign-in-challenges.ts';
import type { Totp } from '../ports/totp.ts';
import type { Vault } from '../ports/vault.ts';
import type { IdentityChanges } from './identity-changes.ts';
import type { IdentityReads } from './identity-reads.ts';
import type { MagicLinkOptions } from './magic-link-dependencies.ts';
import type { TenantDirectory } from './tenant-directory.ts';

/** What the use cases of identity work with; each names the part it needs. */
export type IdentityDependencies = {
  readonly eventStore: EventStore;
  readonly claims: Claims;
  readonly reads: IdentityReads;
  readonly sessions: Sessions;
  readonly tokens: SessionTokens;
  readonly passwords: Passwords;
  readonly secrets: RandomSecrets;
  readonly vault: Vault;
  readonly exclusive: Exclusive;
  readonly progress: { waitFor(names: readonly string[], position: GlobalPosition, timeoutMs: number): Promise<boolean> };
  readonly changes: IdentityChanges;
  /** Tenants and their access rules, in memory. */
  readonly tenants: TenantDirectory;
  readonly entitlements: Entitlements;
  readonly passwordPolicy: PasswordPolicy;
  readonly protections: Protections;
  /** Counts the failures of accounts. */
  readonly rateCounters: Pick<RateCounters, 'take' | 'giveBack' | 'clear'>;
  readonly totp: Totp;
  readonly authenticators: Authenticators;
  readonly challenges: SignInChallenges;
  readonly passwordResets: PasswordResets;
  /** Tells operators of what failed beside an answer that went well. */
  readonly reportFailure: (what: string, error: unknown) => void;
  /** `REFRESH_TOKEN_TTL_SECS`. */
  readonly refreshTtlSeconds: number;
  readonly apiKeyRequests: ApiKeyRequests;
  readonly magicLinks: MagicLinks;
  readonly magicLinkOptions: MagicLinkOptions;
  readonly deviceSignIns: DeviceSignIns;
  readonly mailer: Mailer;
  /** `SVC_CONSOLE_URL` without a slash at its end; undefined: mails can hold no link. */
  readonly consoleUrl: string | undefined;
  /** HMAC of a raw API key under the pepper, hex. */
  readonly hashApiKey: (rawKey: string) => string;
  /** Whether this is the setup token; in constant time. */
  readonly isSetupToken: (presented: string) => boolean;
};

/** Name of the read model that every use case of identity moves. */
export const IDENTITY = 'identity';
