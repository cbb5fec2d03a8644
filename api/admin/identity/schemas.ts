import { Type } from '@sinclair/typebox';
import { MFA_METHODS } from '../../../domain/identity/mfa.ts';
import { Id, Texts, nullable, oneOf, strict } from '../../http/schemas.ts';

/** Schemas that several identity routes share. The maximum lengths are upper bounds against hostile input. */

export const Email = Type.String({ maxLength: 320 });
/** The password policy sets the real limit. */
export const Password = Type.String({ maxLength: 4096 });
/** A token that the service has issued: a refresh token, a challenge, a code of a device. */
export const Token = Type.String({ maxLength: 1024 });
export const TenantSlug = Type.String({ maxLength: 63 });
export const Roles = Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100 });
export const MfaMethods = Type.Array(oneOf(MFA_METHODS));

export const MfaCode = Type.String({
  maxLength: 64,
  description: 'Six digits of the authenticator, or a recovery code',
});
/** Body of `mfa-verify` on both APIs. */
export const ChallengeBody = Type.Object({ challenge_token: Token, code: MfaCode }, strict);

/** Members of a body that confirm a change: the caller's password or a code of the second factor. */
export const confirmation = {
  password: Type.Optional(Password),
  mfa_code: Type.Optional(Type.String({ maxLength: 64 })),
};

/** The e-mail address of a user in responses of the Admin API. */
export const ErasableEmail = nullable(Type.String(), {
  description: 'Null after the person was erased',
});
/** The user of a session. */
export const SessionUser = Type.Object({ id: Id, email: Type.String(), roles: Texts });
