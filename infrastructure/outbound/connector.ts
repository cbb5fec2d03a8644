import type { LookupAddress } from 'node:dns';
import { type LookupFunction, isIP } from 'node:net';
import { buildConnector } from 'undici';
import { ADDRESS_NOT_ALLOWED, type AddressGuard, AddressNotAllowedError } from './address-guard.ts';

/**
 * Creates the connector for undici. Undici calls `lookup` only for names, and would resolve them a second time. So the
 * connector checks the host, connects to the checked addresses only, and checks the address of the connected peer.
 */
export function createConnector({
  connectTimeoutMs,
  guard,
}: {
  readonly connectTimeoutMs: number;
  readonly guard: AddressGuard;
}): buildConnector.connector {
  return (options, callback) => {
    const authority =
      options.hostname.includes(':') && !options.hostname.startsWith('[') ? `[${options.hostname}]` : options.hostname;
    guard
      .check(`${options.protocol}//${authority}${options.port === '' ? '' : `:${options.port}`}/`)
      .then((target) => {
        const connect = buildConnector({
          timeout: connectTimeoutMs,
          maxCachedSessions: 0,
          allowH2: false,
          lookup: pinned(target.addresses),
          autoSelectFamily: true,
        });
        connect(options, (error, socket) => {
          if (error) {
            callback(error, null);
          } else if (guard.allowsPeer(socket.remoteAddress, target.isInternalName)) {
            callback(null, socket);
          } else {
            socket.destroy();
            callback(new AddressNotAllowedError(ADDRESS_NOT_ALLOWED), null);
          }
        });
      })
      .catch((error: unknown) => {
        callback(error instanceof Error ? error : new Error('refused'), null);
      });
  };
}

/** A lookup that returns the checked addresses. */
function pinned(addresses: readonly string[]): LookupFunction {
  const answers: LookupAddress[] = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    const [first] = answers;
    if (options.all === true) callback(null, answers);
    else if (first) callback(null, first.address, first.family);
    else callback(new Error('no address'), '', 4);
  };
}
