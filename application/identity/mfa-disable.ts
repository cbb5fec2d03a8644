import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { ConfirmationDependencies } from './confirm-person.ts';
import { confirmPerson } from './confirm-person.ts';
import { decideOnUser } from './decide-on-user.ts';

/** Takes the second factor off the account: needs both factors (spec 4 A, MFA). @returns position to wait for @throws `mfa_not_enabled`, `invalid_password`, `invalid_code`, `rate_limited` */
export async function disableMfa(
  dependencies: ConfirmationDependencies,
  { userId, password, code }: { readonly userId: string; readonly password: string; readonly code: string },
  context: CommandContext,
): Promise<GlobalPosition | undefined> {
  if ((await dependencies.reads.userById(userId))?.mfa === null) throw refusal('mfa_not_enabled');
  await confirmPerson(dependencies, { userId, password, mfaCode: code }, context);
  return (await decideOnUser(dependencies, { userId, command: { kind: 'disable_mfa' } }, context)).position;
}
