import type { Credentials } from '@eventstore/db-client';
import { EventStoreDBClient } from '@eventstore/db-client';

/** What the adapter talks through. */
export type Connection = {
  /** Reads and subscriptions. Apart from the writer, because the client drops its whole channel when one call fails. */
  readonly reader: EventStoreDBClient;
  /** Appends, deletions, metadata. */
  readonly writer: EventStoreDBClient;
  /**
   * To be given with every append: the client then sends it as a call of its own, instead of over a stream that all its appends share.
   * On the shared stream a fault of one connection rejects the appends of all, and their late answers throw where nobody can catch it.
   * Undefined only over TLS without a user, where the shared stream is the only way.
   */
  readonly credentials: Credentials | undefined;
};

const SCHEMES: Readonly<Record<string, string>> = {
  esdb: 'esdb',
  'esdb+discover': 'esdb+discover',
  kurrentdb: 'esdb',
  'kurrentdb+discover': 'esdb+discover',
  kurrent: 'esdb',
  'kurrent+discover': 'esdb+discover',
};

/**
 * Reads an address: `esdb://`, `esdb+discover://` and the newer names of the same, `kurrentdb://` and `kurrent://`.
 * @throws TypeError for any other, and for options that would falsify what the store answers. The message names no password.
 */
export function parseAddress(url: string): { readonly connectionString: string; readonly credentials: Credentials | undefined } {
  const [, scheme = '', rest = ''] = /^([a-z+]+):\/\/(.+)$/s.exec(url.trim()) ?? [];
  const known = SCHEMES[scheme];
  if (known === undefined) throw new TypeError('the address of an EventStoreDB begins with esdb:// or esdb+discover:// (or kurrentdb://)');
  const options = new URLSearchParams(rest.includes('?') ? rest.slice(rest.indexOf('?') + 1) : '');
  const option = (name: string): string | undefined => [...options].find(([key]) => key.toLowerCase().replaceAll(/[_-]/g, '') === name)?.[1]?.toLowerCase();
  // Its answers would be wrong: the client takes a yes or no for the current revision.
  if (option('throwonappendfailure') === 'false') throw new TypeError('throwOnAppendFailure=false is not supported');
  const user = /^([^:@/?]+):([^@]+)@/.exec(rest);
  return { connectionString: `${known}://${rest}`, credentials: credentialsOf(user, option('tls') === 'false') };
}

function credentialsOf(user: RegExpExecArray | null, insecure: boolean): Credentials | undefined {
  if (user) return { username: decodeURIComponent(user[1] ?? ''), password: decodeURIComponent(user[2] ?? '') };
  // An insecure channel sends none, whatever is given.
  return insecure ? { username: 'none', password: 'none' } : undefined;
}

/** Makes the clients; they connect with the first call. @throws TypeError for an address that is none */
export function connect(url: string): Connection {
  const { connectionString, credentials } = parseAddress(url);
  return { reader: clientOf(connectionString), writer: clientOf(connectionString), credentials };
}

function clientOf(connectionString: string): EventStoreDBClient {
  try {
    return EventStoreDBClient.connectionString(connectionString);
  } catch (error) {
    // The client quotes the whole address, its password included.
    throw new TypeError('the address of the EventStoreDB does not parse', error instanceof Error && !error.message.includes('@') ? { cause: error } : undefined);
  }
}
