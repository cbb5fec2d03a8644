import { Type } from '@sinclair/typebox';
import type {
  ReauthenticationDependencies,
  RequestPasswordResetDependencies,
  SetPasswordDependencies,
} from '../../../application/identity/account-dependencies.ts';
import { changePassword } from '../../../application/identity/change-password.ts';
import { confirmPasswordReset } from '../../../application/identity/confirm-password-reset.ts';
import { IDENTITY } from '../../../application/identity/identity-read-model.ts';
import { requestPasswordReset } from '../../../application/identity/request-password-reset.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { strict } from '../../http/schemas.ts';
import { Email, Password, Token } from './schemas.ts';
import { sessionPrincipal } from './session-principal.ts';

/** The response is the same whether or not the address has an account. */
const REQUESTED = 'If there is an account with that address, a mail with a link to set a new password is on its way.';

const SHARED = { api: 'admin', tag: 'identity', access: { kind: 'session' } } as const;
const PUBLIC = { ...SHARED, access: { kind: 'public' } } as const;

export type PasswordRouteDependencies = ReauthenticationDependencies &
  SetPasswordDependencies &
  RequestPasswordResetDependencies;

/** Change of the caller's own password, and password reset by e-mail. */
export function passwordRoutes(dependencies: PasswordRouteDependencies): readonly Route[] {
  return [
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/auth/password',
      operation: 'changePassword',
      summary: "Change the caller's password. Ends all other sessions",
      body: Type.Object({ current_password: Password, new_password: Password }, strict),
      responses: { 204: null },
      refusals: ['invalid_password', 'weak_password'],
      handler: async ({ body, principal, context }) => {
        const { userId, sessionId } = sessionPrincipal(principal);
        const position = await changePassword(
          { userId, sessionId, currentPassword: body.current_password, newPassword: body.new_password },
          context,
          dependencies,
        );
        return { status: 204, ...commitAt(position, [IDENTITY]) };
      },
    }),
    route({
      ...PUBLIC,
      method: 'POST',
      path: '/api/admin/auth/password-reset/request',
      operation: 'requestPasswordReset',
      summary: 'Send a link to set a new password by e-mail. Answers the same for every address',
      body: Type.Object({ email: Email }, strict),
      responses: { 200: Type.Object({ message: Type.String() }) },
      refusals: ['rate_limited', 'password_reset_not_configured'],
      handler: async ({ body, clientNetwork, context }) => {
        await requestPasswordReset({ email: body.email, clientNetwork }, context, dependencies);
        return { status: 200, body: { message: REQUESTED } };
      },
    }),
    route({
      ...PUBLIC,
      method: 'POST',
      path: '/api/admin/auth/password-reset/confirm',
      operation: 'confirmPasswordReset',
      summary: 'Set a new password with the token of a link. Ends all sessions',
      body: Type.Object({ token: Token, password: Password }, strict),
      responses: { 204: null },
      refusals: ['invalid_reset_token', 'weak_password'],
      handler: async ({ body, context }) => ({
        status: 204,
        ...commitAt(await confirmPasswordReset(body, context, dependencies), [IDENTITY]),
      }),
    }),
  ];
}
