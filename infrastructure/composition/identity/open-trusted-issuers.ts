import type { TrustedIssuers } from '../../../application/ports/trusted-issuers.ts';
import { issuerName } from '../../../domain/identity/trusted-issuer.ts';
import { createIssuerKeys } from '../../identity/issuer-keys.ts';
import { createTrustedIssuers } from '../../identity/trusted-issuers.ts';
import { loopbackNetworks } from '../../outbound/loopback-networks.ts';
import { openOutbound } from '../../outbound/outbound.ts';
import { ownEndpointsOf } from '../platform/own-endpoints.ts';
import type { Platform } from '../platform/platform.ts';

export type TrustedIssuersPlatform = Pick<Platform, 'settings' | 'vault' | 'logger' | 'now'>;

export type OpenTrustedIssuers = { readonly issuers: TrustedIssuers; close(): Promise<void> };

/**
 * The trusted issuers of this installation; undefined when none has a policy. Their keys are fetched through the
 * outbound guard; outside production it allows loopback addresses.
 */
export function openTrustedIssuers({
  settings,
  vault,
  logger,
  now,
}: TrustedIssuersPlatform): OpenTrustedIssuers | undefined {
  const { trustedIssuers, trustedIssuerPolicies: policies, trustedIssuerPrivateNetworks: networks, appEnv } = settings;
  for (const issuer of trustedIssuers.filter((url) => !policies.some((policy) => policy.issuer === issuerName(url)))) {
    logger.warn('a trusted issuer has no policy: its tokens are ignored', { issuer });
  }
  if (policies.length === 0) return undefined;
  const outbound = openOutbound({
    allowedPrivateNetworks: [...networks, ...loopbackNetworks(appEnv)],
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
