import Ajv2020 from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { createConfiguration } from '../../../infrastructure/configuration/configuration.ts';
import { environmentLayer, readSettings } from '../../../infrastructure/configuration/read-settings.ts';
import { readSettingsFile } from '../../../infrastructure/configuration/settings-file.ts';
import { settingsSchema } from '../../../infrastructure/configuration/settings-schema.ts';
import { useDirectoryPerTest } from '../../support/directory.ts';

describe('the settings file', () => {
  const directory = useDirectoryPerTest();

  function write(name: string, text: string): void {
    mkdirSync(dirname(join(directory(), name)), { recursive: true });
    writeFileSync(join(directory(), name), text);
  }
  const file = (environment: Readonly<Record<string, string>> = {}) =>
    readSettingsFile({ environment, directory: directory(), systemDirectory: join(directory(), 'etc') });
  function settings(environment: Readonly<Record<string, string>> = {}) {
    const { layer, problems } = file(environment);
    expect(problems).to.deep.equal([]);
    return readSettings([environmentLayer(environment), layer]);
  }

  it('joins nested keys to the name of the variable, however they are split', () => {
    write(
      'svc.yaml',
      'cors:\n  max_age: 5\n  allow:\n    methods: [GET, PUT]\nLOG_LEVEL: debug\nwebhook-delivery:\n  retention-days: 7\n',
    );
    expect(settings().settings).to.deep.include({
      corsMaxAge: 5,
      corsAllowMethods: ['GET', 'PUT'],
      logLevel: 'debug',
      webhookDeliveryRetentionDays: 7,
    });
  });

  it('ranks below the environment and above the default; an empty value unsets a setting', () => {
    write('svc.yml', 'log_level: debug\ncors_max_age: 5\nmetrics_token: a-token-of-the-file\n');
    const { settings: read, sources } = settings({ LOG_LEVEL: 'warn', METRICS_TOKEN: '' });
    expect(read).to.include({ logLevel: 'warn', corsMaxAge: 5, metricsToken: undefined });
    expect(sources).to.include({
      LOG_LEVEL: 'environment',
      CORS_MAX_AGE: 'file',
      METRICS_TOKEN: 'environment',
      CORS_ORIGINS: 'default',
    });
  });

  it('replaces ${VAR} and ${VAR:-fallback} by the environment, and refuses a variable that is not set', () => {
    write('svc.yaml', 'svc_base_url: https://${HOST}/x\nkafka_topic_prefix: ${PREFIX:-pages}\n');
    expect(settings({ HOST: 'cms.test' }).settings).to.include({
      baseUrl: 'https://cms.test/x',
      kafkaTopicPrefix: 'pages',
    });
    expect(
      file()
        .problems.map(({ remedy }) => remedy)
        .join(),
    ).to.match(/line 1: it names \$\{HOST\}, which is not set/);
  });

  it('merges included files in lexical order, then itself, then conf.d', () => {
    write('b.yaml', 'log_level: warn\ncors_max_age: 2\n');
    write('a.yaml', 'log_level: error\ncors_max_age: 1\njwt_expiry_secs: 60\n');
    write('svc.yaml', '$include: [b.yaml, a.yaml]\ncors_max_age: 3\nkafka_client_id: main\n');
    write('conf.d/10.yaml', 'kafka_client_id: ten\n');
    write('conf.d/20.yaml', 'kafka_client_id: twenty\n');
    expect(settings().settings).to.include({
      logLevel: 'warn',
      corsMaxAge: 3,
      jwtExpirySeconds: 60,
      kafkaClientId: 'twenty',
    });
    expect(file().files.map((path) => path.slice(directory().length + 1))).to.deep.equal([
      'a.yaml',
      'b.yaml',
      'svc.yaml',
      'conf.d/10.yaml',
      'conf.d/20.yaml',
    ]);
  });

  it('refuses a file that includes itself, and an included file that does not exist', () => {
    write('svc.yaml', '$include: other.yaml\n');
    write('other.yaml', '$include: svc.yaml\n');
    expect(
      file()
        .problems.map(({ remedy }) => remedy)
        .join(),
    ).to.match(/includes itself/);
    write('svc.yaml', '$include: gone.yaml\n');
    expect(
      file()
        .problems.map(({ remedy }) => remedy)
        .join(),
    ).to.match(/gone\.yaml cannot be read/);
  });

  it('is read from the working directory, else from the system directory, else from conf.d in the system directory', () => {
    write('etc/conf.d/1.yaml', 'cors_max_age: 1\n');
    expect(settings().settings.corsMaxAge).to.equal(1);
    write('etc/svc.yaml', 'log_level: error\ncors_max_age: 2\n');
    expect(settings().settings).to.include({ corsMaxAge: 1, logLevel: 'error' });
    write('svc.yml', 'cors_max_age: 3\n');
    expect(settings().settings).to.include({ corsMaxAge: 3, logLevel: 'info' });
  });

  it('is the file or directory that SVC_CONFIG names; a path that does not exist prevents the start', () => {
    write('svc.yaml', 'cors_max_age: 1\n');
    write('elsewhere/mine.yaml', 'cors_max_age: 9\n');
    expect(settings({ SVC_CONFIG: join(directory(), 'elsewhere/mine.yaml') }).settings.corsMaxAge).to.equal(9);
    expect(settings({ SVC_CONFIG: join(directory(), 'elsewhere') }).settings.corsMaxAge).to.equal(9);
    expect(file({ SVC_CONFIG: join(directory(), 'nowhere') }).problems.map(({ variable }) => variable)).to.deep.equal([
      'SVC_CONFIG',
    ]);
  });

  it('accepts settings of features below plugins, with or without the feature in the name', () => {
    write(
      'svc.yaml',
      'plugins:\n  apikey:\n    apikey_retention_days: 10\n  webhook:\n    delivery_retention_days: 11\n',
    );
    expect(settings().settings).to.include({ apiKeyRetentionDays: 10, webhookDeliveryRetentionDays: 11 });
  });

  it('reports unknown settings with their line, and all problems at once, without any value', () => {
    write('svc.yaml', 'databsae_url: postgres://secret\ncors_max_age: secret-1\nlog_level: secret-2\n');
    const read = file();
    expect(read.unknown).to.deep.equal([`${join(directory(), 'svc.yaml')}, line 1: databsae_url is not a setting`]);
    const { problems } = readSettings([environmentLayer({}), read.layer]);
    expect(problems.map(({ variable }) => variable)).to.have.members(['CORS_MAX_AGE', 'LOG_LEVEL']);
    expect(JSON.stringify([read.unknown, problems])).to.not.contain('secret');
    write('svc.yaml', 'a: [\n');
    expect(
      file()
        .problems.map(({ remedy }) => remedy)
        .join(),
    ).to.match(/svc\.yaml, line \d: not valid YAML/);
  });

  it('returns the content types that it declares', () => {
    write('svc.yaml', 'schemas:\n  - name: page\n    fields: [{ name: title, field_type: text }]\n');
    expect(file().schemas).to.deep.equal([{ name: 'page', fields: [{ name: 'title', field_type: 'text' }] }]);
  });

  it('never crashes the process, whatever the file contains', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        write('svc.yaml', text);
        file();
      }),
      { numRuns: 50 },
    );
  });

  it('is described by a JSON Schema that accepts valid files and refuses wrong values', () => {
    const validate = new Ajv2020({ strict: false }).compile(settingsSchema());
    const good =
      'cors:\n  max_age: 5\ncors_origins: [https://a.test]\nlog_level: ${LEVEL:-info}\n$include: other.yaml\nschemas:\n  - { name: page, fields: [] }\n';
    expect(validate(parse(good)), JSON.stringify(validate.errors)).to.equal(true);
    expect(validate(parse('cors_max_age: [5]'))).to.equal(false);
  });
});

describe('the console layer', () => {
  const tagged = {
    name: 'file',
    get: (name: string) => ({ LOG_LEVEL: 'warn', CORS_MAX_AGE: '5' })[name],
    overridable: (name: string) => name === 'LOG_LEVEL',
  } as const;
  const configuration = createConfiguration({
    layers: [
      environmentLayer({ KAFKA_CLIENT_ID: 'env', KAFKA_TOPIC_PREFIX: 'env', SVC_OVERRIDABLE: 'KAFKA_CLIENT_ID' }),
      tagged,
    ],
  });
  const saved = new Map([
    ['LOG_LEVEL', 'debug'],
    ['CORS_MAX_AGE', '9'],
    ['KAFKA_CLIENT_ID', 'mine'],
    ['KAFKA_TOPIC_PREFIX', 'mine'],
    ['JWT_EXPIRY_SECS', '60'],
    ['METRICS_TOKEN', 'a-hidden-metrics-token'],
    ['DATABASE_URL', 'postgres://x/y'],
  ]);
  const view = (key: string) => configuration.list(saved).find((setting) => setting.key === key);

  it('wins over a value tagged !overridable, over a variable listed in SVC_OVERRIDABLE and over defaults, and over nothing else', () => {
    expect(view('LOG_LEVEL')).to.include({ value: 'debug', source: 'console', overridable: true });
    expect(view('CORS_MAX_AGE')).to.include({ value: 5, source: 'file', overridable: false });
    expect(view('KAFKA_CLIENT_ID')).to.include({ value: 'mine', source: 'console', overridable: true });
    expect(view('KAFKA_TOPIC_PREFIX')).to.include({ value: 'env', source: 'environment', overridable: false });
    expect(view('JWT_EXPIRY_SECS')).to.include({ value: 60, source: 'console' });
  });
  it('cannot set a value that is needed before the console can be read', () => {
    expect(view('DATABASE_URL')).to.include({ value: null, source: 'default', overridable: false });
  });
  it('masks secrets', () => {
    expect(view('METRICS_TOKEN')).to.include({ value: '********', secret: true });
  });
});
