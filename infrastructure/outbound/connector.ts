import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import type { Guard } from './guard.ts';
import { RefusedError, ADDRESS_NOT_ALLOWED } from './guard.ts';

/**
 * Opens connections for undici. Undici asks no `lookup` for address literals and would resolve names a second time, so the
 * whole decision is taken here: the host is checked, the socket is pinned to the checked addresses, and its peer is looked at again.
 */
export function guardedConnector(guard: Guard, connectTimeoutMs: number): buildConnector.connector {
  return (options, callback) => {
    const authority = options.hostname.includes(':') && !options.hostname.startsWith('[') ? `[${options.hostname}]` : options.hostname;
    guard
      .check(`${options.protocol}//${authority}${options.port === '' ? '' : `:${options.port}`}/`)
      .then((target) => {
        const connect = buildConnector({ timeout: connectTimeoutMs, maxCachedSessions: 0, allowH2: false, lookup: pinned(target.addresses), autoSelectFamily: true });
        connect(options, (error, socket) => {
          if (error) {
            callback(error, null);
          } else if (guard.allowsPeer(socket.remoteAddress, target.isInternalName)) {
            callback(null, socket);
          } else {
            socket.destroy();
            callback(new RefusedError(ADDRESS_NOT_ALLOWED), null);
          }
        });
      })
      .catch((error: unknown) => {
        callback(error instanceof Error ? error : new Error('refused'), null);
      });
  };
}

/** A lookup that answers what was checked, and nothing else. */
function pinned(addresses: readonly string[]): LookupFunction {
  const answers: LookupAddress[] = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    const [first] = answers;
    if (options.all === true) callback(null, answers);
    else if (first) callback(null, first.address, first.family);
    else callback(new Error('no address'), '', 4);
  };
}
