import { expect } from 'chai';
import { topics } from '../../application/platform/topics.ts';
import { requireService } from '../support/adapters.ts';
import { type TestDatabase, useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { deleteTopics, everythingOn, openTestKafka, uniqueName } from '../support/kafka.ts';
import { type ServiceProcess, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';
import { PASSWORDLESS, scenario, trusting, useIssuer } from './private-data-scenario.ts';

/** Every row of every table of the database as text, one line per row. */
async function dumpOf(database: TestDatabase): Promise<string> {
  const tables = await database
    .db()
    .query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    );
  const rows = await Promise.all(
    tables.map(({ name }) =>
      database
        .db()
        .query<{ row: string }>(`select '${name.replaceAll("'", "''")} ' || to_jsonb(t)::text as row from ${name} t`),
    ),
  );
  return rows
    .flat()
    .map(({ row }) => row)
    .join('\n');
}

/**
 * Searches for each secret in plain text and in the encodings of stored values. Reports the position of a match, not
 * the secret.
 */
function expectNothingOf(secrets: readonly string[], text: string): void {
  const lines = text.split('\n');
  for (const secret of secrets.filter((one) => one !== '')) {
    const bytes = Buffer.from(secret, 'utf8');
    const forms = [
      secret,
      encodeURIComponent(secret),
      bytes.toString('hex'),
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('base64url'),
    ];
    const line = lines.find((one) => forms.some((form) => one.includes(form)));
    expect(
      line?.slice(0, 300),
      `"${secret.slice(0, 4)}…" (${secret.length} characters) is stored in plain text`,
    ).to.equal(undefined);
  }
}

describe('secrets and personal data', function () {
  this.timeout(120_000);
  const issuer = useIssuer();
  let service: ServiceProcess | undefined;
  const directory = useDirectory();
  after(async () => {
    await service?.end('SIGKILL');
  });
  const database = useDatabase();

  it('do not appear in plain text in any table or log line, even at log level debug', async () => {
    service = await startServiceProcess(
      {
        ...testEnvironment(database.url(), directory()),
        TRUSTED_PROXIES: '127.0.0.1/32',
        ...PASSWORDLESS,
        ...trusting(issuer()),
      },
      { logLevel: 'debug' },
    );
    const { secrets, readable } = await scenario(service, directory(), issuer());
    // Buffered writes are flushed when the service stops.
    await service.end('SIGTERM');
    expect(await service.exited).to.equal(0);
    const tables = await dumpOf(database);
    for (const proof of [
      readable,
      'UserCreated',
      'UserMfaEnabled',
      'UserRecoveryCodeUsed',
      'UserSignInBlocked',
      'operational.password_resets',
      'ApiKeyRevoked',
      'WebhookCreated',
      'operational.api_key_requests',
    ])
      expect(tables).to.contain(proof);
    expectNothingOf(secrets, tables);
    const log = service.output();
    expect(log).to.contain('"level":"debug"').and.contain('/api/admin/auth/login');
    expectNothingOf(secrets, log);
  });
});

describe('secrets and personal data with Kafka', function () {
  this.timeout(120_000);
  const kafka = requireService('kafka');
  const prefix = uniqueName('privacy');
  const issuer = useIssuer();
  let service: ServiceProcess | undefined;
  const directory = useDirectory();
  after(async () => {
    await service?.end('SIGKILL');
    await deleteTopics(kafka.address(), prefix);
  });
  const database = useDatabase();

  it('do not appear in keys, headers and values of any topic, nor in any log line', async () => {
    service = await startServiceProcess(
      {
        ...testEnvironment(database.url(), directory()),
        TRUSTED_PROXIES: '127.0.0.1/32',
        ...PASSWORDLESS,
        ...trusting(issuer()),
        KAFKA_BROKERS: kafka.address(),
        KAFKA_TOPIC_PREFIX: prefix,
      },
      { logLevel: 'debug' },
    );
    const { secrets, readable } = await scenario(service, directory(), issuer());
    const [head] = await database.db().query<{ position: number }>('select position from eventstore.head');
    await eventually(async () => {
      const [relay] = await database
        .db()
        .query<{ position: string }>(`select position::text from operational.checkpoints where name = 'relay'`);
      expect(Number(relay?.position)).to.equal(head?.position);
    });
    await service.end('SIGTERM');
    const names = topics(prefix).map(({ topic }) => topic);
    const bus = await openTestKafka({ brokers: kafka.address() });
    const messages = await everythingOn(names, { bus });
    await bus.close();
    const text = messages.map((message) => JSON.stringify(message)).join('\n');
    for (const proof of [readable, 'UserCreated', 'ApiKeyCreated', 'WebhookCreated']) expect(text).to.contain(proof);
    expectNothingOf(secrets, text);
    expectNothingOf(secrets, service.output());
  });
});
