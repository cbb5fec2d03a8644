import { Type } from '@sinclair/typebox';
import {
  type RedeemMagicLinkDependencies,
  type RequestHost,
  type RequestMagicLinkDependencies,
  missingMagicLinkSetting,
} from '../../../application/identity/magic-link-dependencies.ts';
import { redeemMagicLink } from '../../../application/identity/redeem-magic-link.ts';
import { requestMagicLink } from '../../../application/identity/request-magic-link.ts';
import type { TenantDirectory } from '../../../application/identity/tenant-directory.ts';
import { type ErrorCode, type FieldError, refusal } from '../../../domain/errors.ts';
import { normaliseEmail } from '../../../domain/identity/email.ts';
import { hostName } from '../../http/host-and-ip-filter.ts';
import { type Route, type RouteRequest, route } from '../../http/route.ts';
import { Id, strict } from '../../http/schemas.ts';
import { Challenge, Credentials, challengeResponse, credentialsResponse } from './credentials-response.ts';
import { sessionCookie } from './session-cookie.ts';

const SHARED = {
  api: 'admin',
  method: 'POST',
  tag: 'identity',
  feature: 'magic-link',
  access: { kind: 'public' },
} as const;
/** The response is the same whether or not the address has an account. */
const MESSAGE = 'If this address can sign in, a link is on its way to it.';

const LinkCredentials = Type.Composite([
  Credentials,
  Type.Object({
    access_token: Type.String({ description: 'The same value as token' }),
    is_new_user: Type.Boolean(),
    user_id: Id,
    email: Type.String(),
  }),
]);

export type MagicLinkRouteDependencies = RequestMagicLinkDependencies &
  RedeemMagicLinkDependencies & {
    readonly tenants: Pick<TenantDirectory, 'ofHost'>;
    readonly secureCookie: boolean;
  };

/** Sign-in with a link sent by e-mail. `secureCookie` is the setting `SECURE_COOKIE`. */
export function magicLinkRoutes(dependencies: MagicLinkRouteDependencies): readonly Route[] {
  const { tenants, secureCookie: secure } = dependencies;

  function hostOf(header: RouteRequest<unknown, unknown, unknown>['header']): RequestHost {
    const host = hostName(header('host'));
    return { host, hostTenant: tenants.ofHost(host) };
  }

  /** @throws `magic_link_not_configured`; `json_type_required` for a form, which has its own message */
  function precheck({ header }: RouteRequest<unknown, unknown, unknown>): void {
    if (missingMagicLinkSetting(dependencies) !== undefined) throw refusal('magic_link_not_configured');
    if (/^multipart\/form-data\s*(?:;|$)/i.test(header('content-type') ?? '')) throw refusal('json_type_required');
  }

  return [
    route({
      ...SHARED,
      path: '/api/admin/auth/magic-link/request',
      operation: 'requestMagicLink',
      summary: 'Send a sign-in link by e-mail. Answers the same for every address',
      body: Type.Object({ email: Type.String({ minLength: 1 }) }, strict),
      bodyRefusal: bodyRefusalWithout('email', 'email_required'),
      responses: { 200: Type.Object({ message: Type.String() }) },
      refusals: [
        'email_required',
        'invalid_email',
        'json_type_required',
        'magic_link_requests_limited',
        'rate_limited',
        'magic_link_not_configured',
      ],
      limit: { perSecond: 5, burst: 10 },
      precheck,
      handler: async ({ body, header, clientNetwork, context }) => {
        if (body.email.trim() === '') throw refusal('email_required');
        const email = normaliseEmail(body.email);
        if (email === undefined) throw refusal('invalid_email');
        await requestMagicLink({ email, ...hostOf(header), clientNetwork }, context, dependencies);
        return { status: 200, body: { message: MESSAGE } };
      },
    }),
    route({
      ...SHARED,
      path: '/api/admin/auth/magic-link/verify',
      operation: 'redeemMagicLink',
      summary: 'Sign in with the token of a link, once. Sets the session cookie',
      body: Type.Object({ token: Type.String({ minLength: 1 }) }, strict),
      bodyRefusal: bodyRefusalWithout('token', 'token_required'),
      responses: { 200: Type.Union([LinkCredentials, Challenge]) },
      refusals: [
        'invalid_magic_link',
        'token_required',
        'authentication_failed',
        'tenant_disabled',
        'tenant_not_found',
        'json_type_required',
        'magic_link_attempts_limited',
        'rate_limited',
        'authentication_unavailable',
        'magic_link_not_configured',
      ],
      limit: { perSecond: 10, burst: 20 },
      precheck,
      handler: async ({ body, header, clientAddress, clientNetwork, context }) => {
        const { outcome, isNewUser } = await redeemMagicLink(
          { token: body.token, ...hostOf(header), clientAddress, clientNetwork },
          context,
          dependencies,
        );
        if ('challengeToken' in outcome) return challengeResponse(outcome);
        const { token, expiresIn, user } = outcome;
        const extra = { access_token: token, is_new_user: isNewUser, user_id: user.id, email: user.email };
        return credentialsResponse(200, outcome, sessionCookie({ secure, token, maxAge: expiresIn }), extra);
      },
    }),
  ];
}

/**
 * Creates the refusal of an invalid body: `missing` for an absent or empty field, `invalid_json_body` for a field of
 * another type or a body that is not an object, else `validation_failed`.
 */
function bodyRefusalWithout(
  field: string,
  missing: ErrorCode,
): (problems: readonly (FieldError & { readonly keyword: string })[]) => Error {
  return (problems) => {
    const about = problems.find((problem) => problem.field === field);
    if (about)
      return refusal(about.keyword === 'required' || about.keyword === 'minLength' ? missing : 'invalid_json_body');
    if (problems.some((problem) => problem.field === '')) return refusal('invalid_json_body');
    return refusal('validation_failed', { fields: problems });
  };
}
