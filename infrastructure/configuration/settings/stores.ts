import { boolean, connection, duration, hostPorts, integer, number, oneOf, text } from '../parsers.ts';
import { optional, setting } from '../setting.ts';

const start = { layers: 'start' } as const;
const lenient = { lenient: true, ...start } as const;
const pooler = { lenient: true, layers: 'environment' } as const;

/** Database, event store, message bus, file storage. */
export const stores = {
  databaseUrl: optional(
    'DATABASE_URL',
    connection(['embedded'], ['postgres', 'postgresql']),
    'Connection string of PostgreSQL. `embedded` starts a PostgreSQL server of its own (development only).',
    { secret: true, shownDefault: 'required', ...start },
  ),
  databaseDriver: optional(
    'DATABASE_DRIVER',
    oneOf('postgres'),
    'Overrides the database type that `DATABASE_URL` names.',
    {
      shownDefault: 'from the URL',
      ...start,
    },
  ),
  databaseMaxConnections: setting(
    'DATABASE_MAX_CONNECTIONS',
    integer(1, 10_000),
    25,
    'Maximum number of connections of the pool.',
    lenient,
  ),
  databaseConnectionWaitMs: setting(
    'DATABASE_CONNECTION_WAIT',
    duration,
    5_000,
    'Maximum time that work waits for a connection of the pool; a request is then answered with 503. 0: no limit.',
    { ...lenient, shownDefault: '5s' },
  ),
  databaseReadTimeoutMs: setting(
    'DATABASE_READ_TIMEOUT',
    duration,
    30_000,
    'Maximum time of a statement of a request that reads; the request is then answered with 503. 0: no limit.',
    { ...lenient, shownDefault: '30s' },
  ),
  databaseWriteTimeoutMs: setting(
    'DATABASE_WRITE_TIMEOUT',
    duration,
    30_000,
    'Maximum time of a statement of a request that writes. Schema changes and rebuilds have no limit. 0: no limit.',
    { ...lenient, shownDefault: '30s' },
  ),
  databaseBackgroundTimeoutMs: setting(
    'DATABASE_BACKGROUND_TIMEOUT',
    duration,
    600_000,
    'Maximum time of a statement of work without a request. Projectors and rebuilds have no limit. 0: no limit.',
    { ...lenient, shownDefault: '10m' },
  ),
  databaseLockTimeoutMs: setting(
    'DATABASE_LOCK_TIMEOUT',
    duration,
    10_000,
    'Maximum time that a statement waits for a lock, except in schema changes and rebuilds. 0: no limit.',
    { ...lenient, shownDefault: '10s' },
  ),
  databaseIdleTransactionTimeoutMs: setting(
    'DATABASE_IDLE_TRANSACTION_TIMEOUT',
    duration,
    5_000,
    'Time after which the server aborts a transaction of a suspended process, so that its locks are free. 0: no limit.',
    { ...lenient, shownDefault: '5s' },
  ),
  databaseReplicaUrl: optional(
    'DATABASE_REPLICA_URL',
    connection([], ['postgres', 'postgresql']),
    'Connection string of a read replica. It serves reads of entries and lists once it contains the writes that the caller must see.',
    { secret: true, ...start },
  ),
  databaseReplicaMaxConnections: setting(
    'DATABASE_REPLICA_MAX_CONNS',
    integer(1, 10_000),
    30,
    'Maximum number of connections to the replica.',
    lenient,
  ),
  poolMinConnections: setting(
    'DB_POOL_MIN_CONNS',
    integer(0, 10_000),
    2,
    'Number of connections that stay open when they are idle.',
    lenient,
  ),
  connectionMaxLifetimeMs: setting('DB_CONN_MAX_LIFETIME', duration, 3_600_000, 'Maximum lifetime of a connection.', {
    ...lenient,
    shownDefault: '1h',
  }),
  poolHealthCheckPeriodMs: setting(
    'DB_POOL_HEALTH_CHECK_PERIOD',
    duration,
    30_000,
    'Idle time after which a connection is closed. 0: `DB_CONN_MAX_IDLE_TIME` applies instead.',
    { ...lenient, shownDefault: '30s' },
  ),
  connectionMaxIdleMs: setting(
    'DB_CONN_MAX_IDLE_TIME',
    duration,
    300_000,
    'Idle time after which a connection is closed when `DB_POOL_HEALTH_CHECK_PERIOD` is 0.',
    { ...lenient, shownDefault: '5m' },
  ),
  connectionPooler: optional(
    'CONNECTION_POOLER',
    text,
    'Type of an external connection pooler, shown in the pool health report.',
  ),
  poolerMaxClients: setting(
    'POOL_MAX_CLIENT_CONN',
    integer(1),
    100,
    'Maximum clients of the external pooler, shown in the report.',
    pooler,
  ),
  poolerPoolSize: setting(
    'POOL_DEFAULT_POOL_SIZE',
    integer(1),
    20,
    'Pool size of the external pooler, shown in the report.',
    pooler,
  ),
  poolerReserve: setting(
    'POOL_RESERVE_POOL_SIZE',
    integer(0),
    5,
    'Reserve pool of the external pooler, shown in the report.',
    pooler,
  ),
  poolHealthMaxLatencyMs: setting(
    'POOL_HEALTH_MAX_LATENCY',
    duration,
    1000,
    'Latency of a query above which the pool health report says degraded.',
    { ...pooler, shownDefault: '1s' },
  ),
  poolHealthMinIdle: setting(
    'POOL_HEALTH_MIN_IDLE',
    integer(0),
    1,
    'Number of free connections below which the pool health report says degraded.',
    pooler,
  ),
  poolHealthMaxUtilisation: setting(
    'POOL_HEALTH_MAX_UTIL',
    number(0, 1),
    0.9,
    'Share of busy connections above which the pool health report says degraded.',
    pooler,
  ),
  eventStoreUrl: setting(
    'EVENT_STORE_URL',
    connection(['postgres', 'memory'], ['esdb', 'esdb+discover', 'kurrentdb', 'kurrentdb+discover']),
    'postgres',
    'Event store: EventStoreDB (`esdb://…`, `esdb+discover://…`, `kurrentdb://…`), `postgres` for the store in the database of `DATABASE_URL`, or `memory` for tests.',
    { secret: true, shownDefault: 'postgres', ...start },
  ),
  kafkaBrokers: optional('KAFKA_BROKERS', hostPorts, 'Kafka brokers. Unset: workers read the event store directly.'),
  kafkaTopicPrefix: setting('KAFKA_TOPIC_PREFIX', text, 'palimpsest', 'Prefix of every topic name.'),
  kafkaClientId: setting('KAFKA_CLIENT_ID', text, 'palimpsest', 'Client id at the brokers.'),
  kafkaSsl: setting('KAFKA_SSL', boolean, false, 'Connects to the brokers over TLS.'),
  kafkaSaslMechanism: optional(
    'KAFKA_SASL_MECHANISM',
    oneOf('plain', 'scram-sha-256', 'scram-sha-512'),
    'SASL mechanism of the brokers. Requires a user and a password.',
  ),
  kafkaSaslUsername: optional('KAFKA_SASL_USERNAME', text, 'SASL user name.'),
  kafkaSaslPassword: optional('KAFKA_SASL_PASSWORD', text, 'SASL password.', { secret: true }),
  storageDriver: setting('STORAGE_DRIVER', oneOf('local', 's3'), 'local', 'Where files are stored.'),
  storageLocalPath: setting('STORAGE_LOCAL_PATH', text, './uploads', 'Directory of the storage driver `local`.'),
} as const;
