import { boolean, connection, duration, hostPorts, integer, number, oneOf, text } from '../parsers.ts';
import { optional, setting } from '../setting.ts';

const start = { layers: 'start' } as const;
const lenient = { lenient: true, ...start } as const;
const pooler = { lenient: true, layers: 'environment' } as const;

/** Database, event store, message bus, file storage (spec 1, Configuration; spec 4 A). */
export const stores = {
  databaseUrl: optional('DATABASE_URL', connection(['embedded'], ['postgres', 'postgresql']), 'Connection string of PostgreSQL; `embedded` brings its own (development only).', { secret: true, shownDefault: 'required', ...start }),
  databaseDriver: optional('DATABASE_DRIVER', oneOf('postgres'), 'Overrides the dialect that the URL names.', { shownDefault: 'from the URL', ...start }),
  databaseMaxConnections: setting('DATABASE_MAX_CONNECTIONS', integer(1, 10_000), 25, 'Most connections of the pool.', lenient),
  databaseReplicaUrl: optional('DATABASE_REPLICA_URL', connection([], ['postgres', 'postgresql']), 'Read replica: answers reads of entries and lists once it has what the caller must see.', { secret: true, ...start }),
  databaseReplicaMaxConnections: setting('DATABASE_REPLICA_MAX_CONNS', integer(1, 10_000), 30, 'Most connections to the replica.', lenient),
  poolMinConnections: setting('DB_POOL_MIN_CONNS', integer(0, 10_000), 2, 'Connections opened at startup.', lenient),
  connectionMaxLifetimeMs: setting('DB_CONN_MAX_LIFETIME', duration, 3_600_000, 'Lifetime of a connection.', { ...lenient, shownDefault: '1h' }),
  poolHealthCheckPeriodMs: setting('DB_POOL_HEALTH_CHECK_PERIOD', duration, 30_000, 'Idle time before a connection is closed; above zero it replaces `DB_CONN_MAX_IDLE_TIME`.', { ...lenient, shownDefault: '30s' }),
  connectionMaxIdleMs: setting('DB_CONN_MAX_IDLE_TIME', duration, 300_000, 'Idle time-out when the period above is 0.', { ...lenient, shownDefault: '5m' }),
  connectionPooler: optional('CONNECTION_POOLER', text, 'Kind of external pooler, for the pool health report.'),
  poolerMaxClients: setting('POOL_MAX_CLIENT_CONN', integer(1), 100, 'Sizing of that pooler, for the report.', pooler),
  poolerPoolSize: setting('POOL_DEFAULT_POOL_SIZE', integer(1), 20, 'Sizing of that pooler, for the report.', pooler),
  poolerReserve: setting('POOL_RESERVE_POOL_SIZE', integer(0), 5, 'Sizing of that pooler, for the report.', pooler),
  poolHealthMaxLatencyMs: setting('POOL_HEALTH_MAX_LATENCY', duration, 1000, 'Latency from which the pool counts as degraded.', { ...pooler, shownDefault: '1s' }),
  poolHealthMinIdle: setting('POOL_HEALTH_MIN_IDLE', integer(0), 1, 'Idle connections below which the pool counts as degraded.', pooler),
  poolHealthMaxUtilisation: setting('POOL_HEALTH_MAX_UTIL', number(0, 1), 0.9, 'Use of the pool from which it counts as degraded.', pooler),
  eventStoreUrl: setting(
    'EVENT_STORE_URL',
    connection(['postgres', 'memory'], ['esdb', 'esdb+discover', 'kurrentdb', 'kurrentdb+discover']),
    'postgres',
    'EventStoreDB (`esdb://…`, `esdb+discover://…`, `kurrentdb://…`), `postgres` for the store inside `DATABASE_URL`, `memory` for tests.',
    { secret: true, shownDefault: 'postgres', ...start },
  ),
  kafkaBrokers: optional('KAFKA_BROKERS', hostPorts, 'Kafka brokers; unset: fan-out inside the process.'),
  kafkaTopicPrefix: setting('KAFKA_TOPIC_PREFIX', text, 'palimpsest', 'First part of every topic.'),
  kafkaClientId: setting('KAFKA_CLIENT_ID', text, 'palimpsest', 'Name the brokers see.'),
  kafkaSsl: setting('KAFKA_SSL', boolean, false, 'TLS to the brokers.'),
  kafkaSaslMechanism: optional('KAFKA_SASL_MECHANISM', oneOf('plain', 'scram-sha-256', 'scram-sha-512'), 'SASL mechanism.'),
  kafkaSaslUsername: optional('KAFKA_SASL_USERNAME', text, 'SASL user.'),
  kafkaSaslPassword: optional('KAFKA_SASL_PASSWORD', text, 'SASL password.', { secret: true }),
  storageDriver: setting('STORAGE_DRIVER', oneOf('local', 's3'), 'local', 'Where files are kept.'),
  storageLocalPath: setting('STORAGE_LOCAL_PATH', text, './uploads', 'Directory of the local driver.'),
} as const;
