import type { IdentityDependencies } from '../../application/identity/dependencies.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { RateCounters } from '../../application/ports/rate-counters.ts';
import { createProtections } from '../../application/traffic/create-protections.ts';
import type { ProtectionLimits } from '../../domain/traffic/protections.ts';
import { totp } from '../crypto/totp.ts';
import { createAuthenticators } from '../identity/authenticators.ts';
import { createPasswordResets } from '../identity/password-resets.ts';
import { createSignInChallenges } from '../identity/sign-in-challenges.ts';
import type { Database } from '../postgres/database.ts';

export type SignInGuards = Pick<IdentityDependencies, 'rateCounters' | 'protections' | 'totp' | 'authenticators' | 'challenges' | 'passwordResets' | 'reportFailure'>;

export type SignInGuardsOptions = {
  readonly database: Database;
  readonly rateCounters: RateCounters;
  readonly logger: Pick<Logger, 'warn'>;
  /** In place of the limits that ship. */
  readonly protections?: ProtectionLimits | undefined;
};

/** What stands around sign-ins: limits, lockout, second factors, reset tokens. */
export function composeSignInGuards({ database, rateCounters, logger, protections }: SignInGuardsOptions): SignInGuards {
  return {
    rateCounters,
    protections: createProtections({ rateCounters, limits: protections }),
    totp,
    authenticators: createAuthenticators({ database }),
    challenges: createSignInChallenges({ database }),
    passwordResets: createPasswordResets({ database }),
    reportFailure: (what, error) => {
      logger.warn(what, { reason: String(error) });
    },
  };
}
