import type { MfaDependencies } from '../../../application/identity/account-dependencies.ts';
import type { SignInDependencies } from '../../../application/identity/sign-in-dependencies.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { PasswordResets } from '../../../application/ports/password-resets.ts';
import type { RateCounters } from '../../../application/ports/rate-counters.ts';
import { reasonOf } from '../../../application/ports/transient-errors.ts';
import { createProtections } from '../../../application/traffic/create-protections.ts';
import type { ProtectionLimits } from '../../../domain/traffic/protections.ts';
import { totp } from '../../crypto/totp.ts';
import { createPasswordResets } from '../../identity/password-resets.ts';
import { createSignInChallenges } from '../../identity/sign-in-challenges.ts';
import { createTotpAuthenticators } from '../../identity/totp-authenticators.ts';
import type { Database } from '../../postgres/database.ts';

export type SignInGuards = Pick<
  MfaDependencies,
  'rateCounters' | 'protections' | 'totp' | 'authenticators' | 'reportFailure'
> &
  Pick<SignInDependencies, 'challenges'> & { readonly passwordResets: PasswordResets };

export type SignInGuardsOptions = {
  readonly database: Database;
  readonly rateCounters: RateCounters;
  readonly logger: Pick<Logger, 'warn'>;
  /** Default: the built-in limits. */
  readonly protections?: ProtectionLimits | undefined;
};

/** What protects sign-ins: rate limits, lockout, second factors, password resets. */
export function createSignInGuards({ database, rateCounters, logger, protections }: SignInGuardsOptions): SignInGuards {
  return {
    rateCounters,
    protections: createProtections({ rateCounters, limits: protections }),
    totp,
    authenticators: createTotpAuthenticators({ database }),
    challenges: createSignInChallenges({ database }),
    passwordResets: createPasswordResets({ database }),
    reportFailure: (what, error) => {
      logger.warn(what, { reason: reasonOf(error) });
    },
  };
}
