import { type Credentials, EventStoreDBClient } from '@eventstore/db-client';
import { ownValue } from '../../../domain/own-value.ts';

/** The client connections of the adapter. */
export type Connection = {
  /** Subscriptions, at any node. */
  readonly subscriber: EventStoreDBClient;
  /**
   * Reads, at the leader. The three clients are separate, because a client drops its whole channel when one call fails
   * or is refused by a node that is not the leader.
   */
  readonly reader: EventStoreDBClient;
  /** Appends, deletions and metadata. */
  readonly writer: EventStoreDBClient;
  /**
   * Passed with every append. The client then sends each append as a separate call instead of over one stream shared by
   * all appends. On the shared stream an error of the connection rejects the appends of all callers, and late responses
   * throw errors that cannot be caught. Undefined only over TLS without a user, where the client always uses the shared
   * stream.
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
 * Parses an address: `esdb://`, `esdb+discover://`, or the newer schemes `kurrentdb://` and `kurrent://`.
 * @throws TypeError for other schemes and for options that would make the store return wrong results. The message
 * contains no password.
 */
export function parseEventStoreAddress(url: string): {
  readonly connectionString: string;
  readonly credentials: Credentials | undefined;
} {
  const [, scheme = '', rest = ''] = /^([a-z+]+):\/\/(.+)$/s.exec(url.trim()) ?? [];
  const protocol = ownValue(SCHEMES, scheme);
  if (protocol === undefined)
    throw new TypeError('the address of an EventStoreDB begins with esdb:// or esdb+discover:// (or kurrentdb://)');
  const options = new URLSearchParams(rest.includes('?') ? rest.slice(rest.indexOf('?') + 1) : '');
  const option = (name: string): string | undefined =>
    [...options].find(([key]) => key.toLowerCase().replaceAll(/[_-]/g, '') === name)?.[1]?.toLowerCase();
  // With this option the client would report a conflict as a success at the current revision.
  if (option('throwonappendfailure') === 'false') throw new TypeError('throwOnAppendFailure=false is not supported');
  const user = /^([^:@/?]+):([^@]+)@/.exec(rest);
  return { connectionString: `${protocol}://${rest}`, credentials: credentialsOf(user, option('tls') === 'false') };
}

function credentialsOf(user: RegExpExecArray | null, insecure: boolean): Credentials | undefined {
  if (user) return { username: decodeURIComponent(user[1] ?? ''), password: decodeURIComponent(user[2] ?? '') };
  // An insecure channel sends no credentials, so these values are never transmitted.
  return insecure ? { username: 'none', password: 'none' } : undefined;
}

/** Creates the clients; they connect on the first call. @throws TypeError for an invalid address */
export function createConnection(url: string): Connection {
  const { connectionString, credentials } = parseEventStoreAddress(url);
  return {
    subscriber: clientOf(connectionString),
    reader: clientOf(connectionString),
    writer: clientOf(connectionString),
    credentials,
  };
}

function clientOf(connectionString: string): EventStoreDBClient {
  try {
    return EventStoreDBClient.connectionString(connectionString);
  } catch (error) {
    // The client's message quotes the whole address, including its password.
    throw new TypeError(
      'the address of the EventStoreDB does not parse',
      error instanceof Error && !error.message.includes('@') ? { cause: error } : undefined,
    );
  }
}
