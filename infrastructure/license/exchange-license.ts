import type { ExchangeLicense, ExchangeOutcome } from '../../application/ports/license-exchange.ts';
import type { Outbound } from '../../application/ports/outbound.ts';

const MAX_RESPONSE_BYTES = 65_536;
const TIMEOUT_MS = 10_000;

export type LicenseExchangeOptions = {
  readonly serverUrl: string;
  readonly outbound: Pick<Outbound, 'send'>;
  /** Aborts running requests. */
  readonly signal: AbortSignal;
};

/**
 * Exchanges an opaque license key for a signed token by `POST {serverUrl}/v1/exchange`. Redirects are not followed, so
 * the key is sent to the configured server only.
 */
export function createLicenseExchange({ serverUrl, outbound, signal }: LicenseExchangeOptions): ExchangeLicense {
  return async ({ licenseKey, installId }) => {
    const outcome = await outbound.send({
      method: 'POST',
      url: `${serverUrl}/v1/exchange`,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ license_key: licenseKey, install_id: installId }),
      maxResponseBytes: MAX_RESPONSE_BYTES,
      timeoutMs: TIMEOUT_MS,
      maxRedirects: 0,
      signal,
    });
    if (outcome.kind !== 'answered') return unreachable(`the license server could not be reached: ${outcome.error}`);
    if (outcome.status >= 400 && outcome.status < 500 && !TRANSIENT_STATUSES.has(outcome.status))
      return { kind: 'refused', reason: `the license server refused the license key (${outcome.status})` };
    const token = outcome.status === 200 || outcome.status === 201 ? tokenOf(outcome.body) : undefined;
    return token === undefined
      ? unreachable(`the license server gave no token (${outcome.status})`)
      : { kind: 'token', token };
  };
}

/** 4xx statuses that do not mean that the key is refused. */
const TRANSIENT_STATUSES = new Set([408, 425, 429]);

function unreachable(reason: string): ExchangeOutcome {
  return { kind: 'unreachable', reason };
}

function tokenOf(body: string): string | undefined {
  try {
    const answer: unknown = JSON.parse(body);
    return typeof answer === 'object' && answer !== null && 'token' in answer && typeof answer.token === 'string'
      ? answer.token
      : undefined;
  } catch {
    return undefined;
  }
}
