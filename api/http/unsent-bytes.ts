import type { ServerResponse } from 'node:http';
import { refusal } from '../../domain/errors.ts';

/**
 * Limits the memory of responses that clients do not read. A response stays in memory until the client has taken it, so
 * without a limit a few hundred connections that read nothing would fill the memory of the process.
 */
export type UnsentBytes = {
  /**
   * Counts the bytes of a response until it is sent or broken off. Breaks it off when the client takes no byte for some
   * time.
   * @throws `unavailable`, or `outcome_unknown` of an unsafe request, when too many bytes of earlier responses are not
   *   taken, of this tenant or of all tenants
   */
  hold(
    response: ServerResponse,
    input: {
      /** Undefined: the caller has no credential. Such callers share a limit. */
      readonly tenant: string | undefined;
      readonly bytes: number;
      /** Whether the request may have changed something. */
      readonly unsafe: boolean;
    },
  ): void;
};

/** Smaller responses are not counted: the system's buffers of a connection take them. */
const SMALL_BYTES = 65_536;

/** Creates the limit of one listener. A tenant without other unsent responses may always send one. */
export function createUnsentBytes({
  perTenant = 134_217_728,
  perListener = 536_870_912,
  stallMs = 30_000,
}: {
  readonly perTenant?: number;
  readonly perListener?: number;
  /** Time without a byte taken after which a response is broken off, in milliseconds. */
  readonly stallMs?: number;
} = {}): UnsentBytes {
  const held = new Map<string | undefined, number>();
  let total = 0;

  function release(tenant: string | undefined, bytes: number): void {
    total -= bytes;
    const left = (held.get(tenant) ?? bytes) - bytes;
    if (left === 0) held.delete(tenant);
    else held.set(tenant, left);
  }

  return {
    hold(response, { tenant, bytes, unsafe }) {
      if (bytes <= SMALL_BYTES) return;
      const ofTenant = held.get(tenant) ?? 0;
      if (ofTenant > 0 && (ofTenant + bytes > perTenant || total + bytes > perListener))
        throw unsafe ? refusal('outcome_unknown') : refusal('unavailable', { headers: { 'Retry-After': '1' } });
      held.set(tenant, ofTenant + bytes);
      total += bytes;
      response.once('close', () => {
        release(tenant, bytes);
      });
      response.setTimeout(stallMs, () => {
        response.destroy();
      });
    },
  };
}
