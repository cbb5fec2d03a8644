import type { SecondFactor } from './mfa.ts';
import type { UserEvent } from './user-events.ts';

/** The second factor after an event. @returns undefined when no second factor is enabled */
export function secondFactorAfter(
  factor: SecondFactor | undefined,
  event: Extract<UserEvent, { type: 'UserMfaEnabled' | 'UserRecoveryCodeUsed' | 'UserMfaDisabled' }>,
): SecondFactor | undefined {
  switch (event.type) {
    case 'UserMfaEnabled':
      return { secret: event.data.secret, recoveryCodes: event.data.recovery_codes };
    case 'UserRecoveryCodeUsed':
      return (
        factor && { ...factor, recoveryCodes: factor.recoveryCodes.filter((code) => code !== event.data.recovery_code) }
      );
    case 'UserMfaDisabled':
      return undefined;
  }
}
