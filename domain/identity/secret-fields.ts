/**
 * Members of event data that no response may contain, by event type: sealed addresses, password hashes, digests and key
 * hashes. The audit log masks them.
 */
export const IDENTITY_SECRET_FIELDS: Readonly<Record<string, readonly string[]>> = {
  UserCreated: ['email', 'email_digest', 'password_hash'],
  UserPasswordChanged: ['password_hash'],
  UserPasswordRehashed: ['password_hash'],
  UserMfaEnabled: ['secret', 'recovery_codes'],
  UserRecoveryCodeUsed: ['recovery_code'],
  ApiKeyCreated: ['key_hash'],
  ApiKeyRotated: ['key_hash'],
  AdminTokenCreated: ['token_hash'],
  AdminTokenRotated: ['token_hash'],
};
