import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { ReauthenticationDependencies } from './account-dependencies.ts';
import { decideOnUser } from './decide-on-user.ts';
import { reauthenticate } from './reauthenticate.ts';

/**
 * Disables the second factor of an account. The user must send both factors.
 * @returns the position to wait for
 * @throws `mfa_not_enabled`, `invalid_password`, `invalid_code`, `rate_limited`
 */
export async function disableMfa(
  { userId, password, code }: { readonly userId: string; readonly password: string; readonly code: string },
  context: CommandContext,
  dependencies: ReauthenticationDependencies,
): Promise<GlobalPosition | undefined> {
  if ((await dependencies.reads.userById(userId))?.mfa === null) throw refusal('mfa_not_enabled');
  await reauthenticate({ userId, password, mfaCode: code }, context, dependencies);
  const { position } = await decideOnUser(
    { userId, commandFor: () => ({ kind: 'disable_mfa' }) },
    context,
    dependencies,
  );
  return position;
}
