import type { SessionTokens } from '../../../application/ports/session-tokens.ts';
import { reasonOf } from '../../../application/ports/transient-errors.ts';
import { DEFAULT_JWT_KEY_PATH } from '../../configuration/load-settings.ts';
import { createSessionTokens } from '../../crypto/session-tokens.ts';
import { loadSigningKeys, readSigningKeys } from '../../crypto/signing-keys.ts';
import { watchSigningKeys } from '../../crypto/watch-signing-keys.ts';
import type { Platform } from '../platform/platform.ts';

export type SigningPlatform = Pick<Platform, 'settings' | 'logger' | 'now'>;

export type OpenSigning = { readonly tokens: SessionTokens; close(): void };

/**
 * Opens the keys that sign and verify session tokens, and watches the key file. With `JWT_ALG=HS256` the secret signs
 * and no key file is created; an existing one still verifies its tokens, so that changing the algorithm ends no
 * session.
 * @throws when the key file cannot be read, or is readable by others in production
 */
export async function openSigning({ settings, logger, now }: SigningPlatform): Promise<OpenSigning> {
  const { jwtAlgorithm, jwtSecret, jwtSecrets, jwtExpirySeconds } = settings;
  const file = { path: settings.jwtKeyPath ?? DEFAULT_JWT_KEY_PATH, ownerOnly: settings.appEnv === 'production' };
  const bySecret = jwtAlgorithm === 'HS256';
  const keys = watchSigningKeys({
    ...file,
    now,
    keys: bySecret ? ((await readSigningKeys(file)) ?? []) : await loadSigningKeys(file),
    onError: (error) => {
      logger.warn('the signing key file could not be reloaded; the keys loaded before stay in force', {
        reason: reasonOf(error),
      });
    },
  });
  const tokens = createSessionTokens({
    keys,
    expirySeconds: jwtExpirySeconds,
    formerSecrets: jwtSecrets,
    ...(bySecret ? { secret: jwtSecret } : {}),
  });
  return {
    tokens,
    close() {
      keys.close();
    },
  };
}
