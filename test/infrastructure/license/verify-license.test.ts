import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import type { VerifyLicense } from '../../../application/ports/license-verifier.ts';
import { createLicenseVerifier } from '../../../infrastructure/license/verify-license.ts';
import { inDays, LICENSE_PUBLIC_KEY, licenseToken } from '../../support/license.ts';

describe('the license verifier', () => {
  let verify: VerifyLicense;
  before(async () => {
    verify = await createLicenseVerifier({ publicKey: LICENSE_PUBLIC_KEY });
  });

  it('reads a token that the license key signed', async () => {
    expect((await verify(licenseToken({ capabilities: ['media-pro'] })))?.capabilities).to.deep.equal(['media-pro']);
  });

  it('reads one that has ended: the grace period is not its business', async () => {
    expect(await verify(licenseToken({ expiresAt: inDays(-400) }))).to.be.an('object');
  });

  it('refuses another key, another algorithm, an altered or overlong token, and what is no token', async () => {
    const token = licenseToken({ capabilities: ['media-pro'] });
    const [header = '', , signature = ''] = token.split('.');
    const forged = [
      licenseToken({ privateKey: generateKeyPairSync('ed25519').privateKey }),
      licenseToken({ header: { alg: 'none' } }),
      licenseToken({ header: { alg: 'HS256' } }),
      licenseToken({ header: { crit: ['exp'] } }),
      [header, Buffer.from('{"iss":"palimpsest-license","sub":"x","iat":1,"exp":9999999999,"capabilities":["flow-pro"]}').toString('base64url'), signature].join('.'),
      `${header}..${signature}`,
      licenseToken({ claims: { sub: 'x'.repeat(20_000) } }),
      'svc_live_1', '', '..', 'a.b.c', 'null',
    ];
    for (const one of forged) expect(await verify(one), one.slice(0, 60)).to.equal(undefined);
  });
});
