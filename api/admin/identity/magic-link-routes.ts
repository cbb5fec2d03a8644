import { Type } from '@sinclair/typebox';
import type { IdentityDependencies } from '../../../application/identity/dependencies.ts';
import type { RequestHost } from '../../../application/identity/magic-link-dependencies.ts';
import { magicLinkLacks } from '../../../application/identity/magic-link-dependencies.ts';
import { redeemMagicLink } from '../../../application/identity/magic-link-redeem.ts';
import { requestMagicLink } from '../../../application/identity/magic-link-request.ts';
import type { ErrorCode, FieldError } from '../../../domain/errors.ts';
import { refusal } from '../../../domain/errors.ts';
import { normaliseEmail } from '../../../domain/identity/email.ts';
import { hostName } from '../../http/doors.ts';
import type { Route, RouteRequest } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { Challenge, Credentials, challengeAnswer, credentialsAnswer } from './credentials-answer.ts';
import { sessionCookie } from './session-cookie.ts';

const strict = { additionalProperties: false };
/** Told to everybody, whether or not the address has an account. */
const MESSAGE = 'If this address can sign in, a link is on its way to it.';

const Redeemed = Type.Composite([
  Credentials,
  Type.Object({
    access_token: Type.String({ description: 'the same value as token' }),
    is_new_user: Type.Boolean(),
    user_id: Type.String({ format: 'uuid' }),
    email: Type.String(),
  }),
]);

/** Sign-in by a mailed link (spec 1, magic-link sign-in). `secureCookie` is `SECURE_COOKIE`. */
export function magicLinkRoutes(dependencies: IdentityDependencies & { readonly secureCookie: boolean }): readonly Route[] {
  const { tenants, secureCookie: secure } = dependencies;
  const shared = { api: 'admin', method: 'POST', tag: 'identity', feature: 'magic-link', access: { kind: 'public' }, precheck } as const;

  function hostOf(header: RouteRequest<unknown, unknown, unknown>['header']): RequestHost {
    const host = hostName(header('host'));
    return { host, hostTenant: tenants.ofHost(host) };
  }

  /** What wins over a bad body: that the service is not set up for it, and a form, which has a message of its own. */
  function precheck({ header }: RouteRequest<unknown, unknown, unknown>): Promise<void> {
    if (magicLinkLacks(dependencies) !== undefined) return Promise.reject(refusal('magic_link_not_configured'));
    const isForm = /^multipart\/form-data\s*(?:;|$)/i.test(header('content-type') ?? '');
    return isForm ? Promise.reject(refusal('json_type_required')) : Promise.resolve();
  }

  return [
    route({
      ...shared, path: '/api/admin/auth/magic-link/request', operation: 'requestMagicLink', summary: 'Mails a link to sign in by; answers the same for every address',
      limit: { perSecond: 5, burst: 10 },
      body: Type.Object({ email: Type.String({ minLength: 1 }) }, strict), refuseBody: refuseWithout('email', 'email_required'),
      answers: { 200: Type.Object({ message: Type.String() }) },
      refusals: ['email_required', 'invalid_email', 'json_type_required', 'magic_link_requests_limited', 'rate_limited', 'magic_link_not_configured'],
      handler: async ({ body, header, clientAddress, context }) => {
        if (body.email.trim() === '') throw refusal('email_required');
        const email = normaliseEmail(body.email);
        if (email === undefined) throw refusal('invalid_email');
        await requestMagicLink(dependencies, { email, ...hostOf(header), clientAddress }, context);
        return { status: 200, body: { message: MESSAGE } };
      },
    }),
    route({
      ...shared, path: '/api/admin/auth/magic-link/verify', operation: 'redeemMagicLink', summary: 'Signs in by the token of a mailed link, once; sets the session cookie',
      limit: { perSecond: 10, burst: 20 },
      body: Type.Object({ token: Type.String({ minLength: 1 }) }, strict), refuseBody: refuseWithout('token', 'token_required'),
      answers: { 200: Type.Union([Redeemed, Challenge]) },
      refusals: [
        'invalid_magic_link', 'token_required', 'authentication_failed', 'tenant_disabled', 'tenant_not_found', 'json_type_required', 'magic_link_attempts_limited', 'rate_limited',
        'authentication_unavailable', 'magic_link_not_configured',
      ],
      handler: async ({ body, header, clientAddress, context }) => {
        const { outcome, isNewUser } = await redeemMagicLink(dependencies, { token: body.token, ...hostOf(header), clientAddress }, context);
        if ('challengeToken' in outcome) return challengeAnswer(outcome);
        const { token, expiresIn, user } = outcome;
        const extra = { access_token: token, is_new_user: isNewUser, user_id: user.id, email: user.email };
        return credentialsAnswer(200, outcome, sessionCookie({ secure, token, maxAge: expiresIn }), extra);
      },
    }),
  ];
}

/** A missing or empty field has a message of its own; what is no object, or holds no text there, is no such JSON body (spec 1, errors, magic link). */
function refuseWithout(field: string, missing: ErrorCode): (problems: readonly (FieldError & { readonly keyword: string })[]) => Error {
  return (problems) => {
    const about = problems.find((problem) => problem.field === field);
    if (about) return refusal(about.keyword === 'required' || about.keyword === 'minLength' ? missing : 'invalid_json_body');
    if (problems.some((problem) => problem.field === '')) return refusal('invalid_json_body');
    return refusal('validation_failed', { fields: problems.map((problem) => ({ field: problem.field, message: problem.message })) });
  };
}
