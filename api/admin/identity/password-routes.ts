import { Type } from '@sinclair/typebox';
import { changePassword } from '../../../application/identity/change-password.ts';
import type { IdentityDependencies } from '../../../application/identity/dependencies.ts';
import { confirmPasswordReset } from '../../../application/identity/password-reset-confirm.ts';
import { requestPasswordReset } from '../../../application/identity/password-reset-request.ts';
import { addressBlock } from '../../http/address-block.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { commitAt } from './credentials-answer.ts';
import { sessionPrincipal } from './session-principal.ts';

const Password = Type.String({ maxLength: 4096 });

const strict = { additionalProperties: false };
/** The same for every address (spec 4 A, sign-in details). */
const REQUESTED = 'If there is an account with that address, a mail with a link to set a new password is on its way.';

/** Changing one's own password, and setting a new one by a mailed link (spec 4 A, password reset). */
export function passwordRoutes(dependencies: IdentityDependencies): readonly Route[] {
  const anyone = { api: 'admin', tag: 'identity', access: { kind: 'public' } } as const;
  return [
    route({
      api: 'admin', method: 'POST', path: '/api/admin/auth/password', operation: 'changePassword', tag: 'identity', summary: 'Changes one\'s own password; all other sessions end',
      access: { kind: 'session' },
      body: Type.Object({ current_password: Password, new_password: Password }, strict),
      answers: { 204: null }, refusals: ['invalid_password', 'weak_password'],
      handler: async ({ body, principal, context }) => {
        const { userId, sessionId } = sessionPrincipal(principal);
        const position = await changePassword(dependencies, { userId, sessionId, currentPassword: body.current_password, newPassword: body.new_password }, context);
        return { status: 204, ...commitAt(position) };
      },
    }),
    route({
      ...anyone, method: 'POST', path: '/api/admin/auth/password-reset/request', operation: 'requestPasswordReset', summary: 'Mails a link to set a new password',
      body: Type.Object({ email: Type.String({ maxLength: 320 }) }, strict),
      answers: { 200: Type.Object({ message: Type.String() }) }, refusals: ['rate_limited', 'password_reset_not_configured'],
      handler: async ({ body, clientAddress, context }) => {
        await requestPasswordReset(dependencies, { email: body.email, clientAddress: addressBlock(clientAddress) }, context);
        return { status: 200, body: { message: REQUESTED } };
      },
    }),
    route({
      ...anyone, method: 'POST', path: '/api/admin/auth/password-reset/confirm', operation: 'confirmPasswordReset', summary: 'Sets a new password by the mailed token; every session ends',
      body: Type.Object({ token: Type.String({ maxLength: 1024 }), password: Password }, strict),
      answers: { 204: null }, refusals: ['invalid_reset_token', 'weak_password'],
      handler: async ({ body, context }) => ({ status: 204, ...commitAt(await confirmPasswordReset(dependencies, body, context)) }),
    }),
  ];
}
