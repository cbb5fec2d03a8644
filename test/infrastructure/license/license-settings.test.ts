import { expect } from 'chai';
import { generateKeyPairSync } from 'node:crypto';
import { type SettingsError, loadSettings } from '../../../infrastructure/configuration/load-settings.ts';
import { environmentLayer } from '../../../infrastructure/configuration/read-settings.ts';
import { LICENSE_PUBLIC_KEY } from '../../support/license.ts';
import { testEnvironment } from '../../support/service.ts';

const load = (environment: Readonly<Record<string, string>>) =>
  loadSettings([
    environmentLayer({ ...testEnvironment('postgres://palimpsest@localhost/palimpsest', '/tmp'), ...environment }),
  ]).settings;

function refused(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    load(environment);
    return [];
  } catch (error) {
    return (error as SettingsError).problems.map(({ variable }) => variable);
  }
}

describe('the settings of licenses and features', () => {
  it('accept the public license key as raw bytes or PEM, also with escaped newlines', () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const raw = publicKey.export({ format: 'jwk' }).x!;
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    for (const text of [raw, `${raw}=`, pem, pem.replaceAll('\n', '\\n')])
      expect(load({ SVC_LICENSE_PUBLIC_KEY: text }).licensePublicKey).to.equal(raw);
  });

  it('refuse public keys of other kinds', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
      .publicKey.export({ format: 'pem', type: 'spki' })
      .toString();
    for (const wrong of ['short', `${LICENSE_PUBLIC_KEY}AA`, rsa, '-----BEGIN PUBLIC KEY-----'])
      expect(refused({ SVC_LICENSE_PUBLIC_KEY: wrong }), wrong).to.deep.equal(['SVC_LICENSE_PUBLIC_KEY']);
  });

  it('refuse to override the public license key in production', () => {
    expect(refused({ APP_ENV: 'production', SVC_LICENSE_PUBLIC_KEY: LICENSE_PUBLIC_KEY })).to.include(
      'SVC_LICENSE_PUBLIC_KEY',
    );
    expect(refused({ APP_ENV: 'production' })).not.to.include('SVC_LICENSE_PUBLIC_KEY');
  });

  it('accept a license server over https, and outside production over http on a loopback address', () => {
    for (const good of [
      'https://license.test',
      'http://localhost:8080',
      'http://127.0.0.1:8080/base',
      'http://[::1]:8080',
    ])
      expect(refused({ SVC_LICENSE_SERVER_URL: good }), good).to.deep.equal([]);
    for (const bad of ['http://license.test', 'http://10.0.0.1', 'http://127.0.0.1.nip.io', 'ftp://license.test'])
      expect(refused({ SVC_LICENSE_SERVER_URL: bad }), bad).to.deep.equal(['SVC_LICENSE_SERVER_URL']);
    expect(refused({ APP_ENV: 'production', SVC_LICENSE_SERVER_URL: 'http://127.0.0.1:8080' })).to.include(
      'SVC_LICENSE_SERVER_URL',
    );
    expect(refused({ APP_ENV: 'production', SVC_LICENSE_SERVER_URL: 'https://license.test' })).not.to.include(
      'SVC_LICENSE_SERVER_URL',
    );
  });

  it('accept only feature names in SVC_PLUGINS', () => {
    expect(load({ SVC_PLUGINS: 'webhook, apikey' }).plugins).to.have.members(['webhook', 'apikey']);
    expect(load({}).plugins).to.equal(undefined);
    expect(refused({ SVC_PLUGINS: 'webhook,webhoook' })).to.deep.equal(['SVC_PLUGINS']);
  });
});
