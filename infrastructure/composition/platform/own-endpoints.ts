import { ownValue } from '../../../domain/own-value.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import type { OwnEndpoint } from '../../outbound/own-endpoints.ts';

/**
 * The services of this installation. Requests to addresses that users configure never reach them, even in allowed
 * networks.
 */
export function ownEndpointsOf(settings: Settings): readonly OwnEndpoint[] {
  const urls = [settings.databaseUrl, settings.databaseReplicaUrl, settings.redisUrl, settings.eventStoreUrl].flatMap(
    (url) => (url === undefined ? [] : endpointsOf(url)),
  );
  const brokers = (settings.kafkaBrokers ?? []).flatMap((broker) => endpointsOf(`kafka://${broker}`));
  const listeners = [settings.adminListenAddress, settings.apiListenAddress].flatMap((address) =>
    endpointsOf(`http://${address}`),
  );
  return [...urls, ...brokers, ...listeners];
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'postgres:': 5432,
  'postgresql:': 5432,
  'redis:': 6379,
  'rediss:': 6379,
  'http:': 80,
};

/** Hosts and ports of a connection string; it may name several hosts. */
function endpointsOf(url: string): readonly OwnEndpoint[] {
  const match = /^([a-z+]+:)\/\/(?:[^@/]*@)?([^/?]+)/i.exec(url);
  if (!match) return [];
  const [, scheme = '', hosts = ''] = match;
  return hosts.split(',').flatMap((entry) => {
    const address = /^(.*?)(?::(\d+))?$/.exec(entry);
    const host = (address?.[1] ?? '').replace(/^\[(.*)\]$/, '$1');
    const port = Number(address?.[2] ?? ownValue(DEFAULT_PORTS, scheme) ?? 2113);
    return host === '' || port === 0 ? [] : [{ host, port }];
  });
}
