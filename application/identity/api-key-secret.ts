import type { IdentityDependencies } from './dependencies.ts';

/** A new secret of a key: `rawKey` is shown once, the rest is what events and read model hold of it. */
export type ApiKeySecret = { readonly rawKey: string; readonly prefix: string; readonly keyHash: string };

const PREFIX_START = 'svc_'.length;
const PREFIX_LENGTH = 8;

/** Makes a secret; its first 8 characters after `svc_` are public (spec 4 A, API keys). */
export function newApiKeySecret({ secrets, hashApiKey }: Pick<IdentityDependencies, 'secrets' | 'hashApiKey'>): ApiKeySecret {
  const rawKey = secrets.apiKey();
  return { rawKey, prefix: rawKey.slice(PREFIX_START, PREFIX_START + PREFIX_LENGTH), keyHash: hashApiKey(rawKey) };
}
