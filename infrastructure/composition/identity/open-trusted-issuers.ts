import type { Logger } from '../../../application/ports/logger.ts';
import type { TrustedIssuers } from '../../../application/ports/trusted-issuers.ts';
import type { Vault } from '../../../application/ports/vault.ts';
import { issuerName } from '../../../domain/identity/trusted-issuer.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import { createIssuerKeys } from '../../identity/issuer-keys.ts';
import { createTrustedIssuers } from '../../identity/trusted-issuers.ts';
import { createOutbound } from '../../outbound/outbound.ts';
import { ownEndpointsOf } from '../platform/own-endpoints.ts';

export type TrustedIssuersOptions = {
  readonly settings: Settings;
  readonly vault: Pick<Vault, 'digest'>;
  readonly logger: Logger;
  readonly now: () => Date;
};

const LOOPBACK = ['127.0.0.0/8', '::1'];

/**
 * The trusted issuers of this installation; undefined when none has a policy. Their keys are fetched through the outbound
 * guard; outside production it allows loopback addresses.
 */
export function openTrustedIssuers({
  settings,
  vault,
  logger,
  now,
}: TrustedIssuersOptions): { readonly issuers: TrustedIssuers; close(): Promise<void> } | undefined {
  const { trustedIssuers, trustedIssuerPolicies: policies, trustedIssuerPrivateNetworks: networks, appEnv } = settings;
  for (const issuer of trustedIssuers.filter((url) => !policies.some((policy) => policy.issuer === issuerName(url)))) {
    logger.warn('a trusted issuer has no policy: its tokens are ignored', { issuer });
  }
  if (policies.length === 0) return undefined;
  const outbound = createOutbound({
    allowedPrivateNetworks: [...networks, ...(appEnv === 'production' ? [] : LOOPBACK)],
    ownEndpoints: ownEndpointsOf(settings),
  });
  const closing = new AbortController();
  const keysOf = (issuer: string) => createIssuerKeys({ issuer, outbound, now, logger, signal: closing.signal });
  return {
    issuers: createTrustedIssuers({ policies, keysOf, vault }),
    async close() {
      closing.abort();
      await outbound.close();
    },
  };
}
