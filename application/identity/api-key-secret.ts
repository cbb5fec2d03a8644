import type { NewEvent } from '../../domain/event.ts';
import type { CredentialSecretDependencies } from './credential-dependencies.ts';

export type ApiKeySecret = {
  /** Shown to the caller once; never stored. */
  readonly rawKey: string;
  /** The first 8 characters after `svc_`; public. */
  readonly prefix: string;
  /** HMAC of the raw key under the pepper; stored in events and the read model. */
  readonly keyHash: string;
};

const PREFIX_START = 'svc_'.length;
const PREFIX_LENGTH = 8;

/** Makes the secret of an API key. */
export function newApiKeySecret({ secrets, hashCredential }: CredentialSecretDependencies): ApiKeySecret {
  const rawKey = secrets.apiKey();
  return { rawKey, prefix: rawKey.slice(PREFIX_START, PREFIX_START + PREFIX_LENGTH), keyHash: hashCredential(rawKey) };
}

/** The prefix of the secret that the events set; undefined when they set none. */
export function prefixIn(events: readonly NewEvent[]): string | undefined {
  const prefix = events.find(({ type }) => type === 'ApiKeyCreated' || type === 'ApiKeyRotated')?.data['prefix'];
  return typeof prefix === 'string' ? prefix : undefined;
}
