import { expect } from 'chai';
import { generateKeyPairSync } from 'node:crypto';
import type { VerifyLicense } from '../../../application/ports/license-verifier.ts';
import { createLicenseVerifier } from '../../../infrastructure/license/verify-license.ts';
import { LICENSE_PUBLIC_KEY, inDays, licenseToken } from '../../support/license.ts';

describe('the license verifier', () => {
  let verify: VerifyLicense;
  before(async () => {
    verify = await createLicenseVerifier({ publicKey: LICENSE_PUBLIC_KEY });
  });

  it('accepts a token signed with the license key', async () => {
    expect((await verify(licenseToken({ capabilities: ['media-pro'] })))?.capabilities).to.deep.equal(['media-pro']);
  });

  it('accepts an expired token, because the phase of a license is checked elsewhere', async () => {
    expect(await verify(licenseToken({ expiresAt: inDays(-400) }))).to.be.an('object');
  });

  it('rejects tokens with another key or algorithm, altered or too long tokens, and other text', async () => {
    const valid = licenseToken({ capabilities: ['media-pro'] });
    const [header = '', , signature = ''] = valid.split('.');
    const forged = [
      licenseToken({ privateKey: generateKeyPairSync('ed25519').privateKey }),
      licenseToken({ header: { alg: 'none' } }),
      licenseToken({ header: { alg: 'HS256' } }),
      licenseToken({ header: { crit: ['exp'] } }),
      [
        header,
        Buffer.from(
          '{"iss":"palimpsest-license","sub":"x","iat":1,"exp":9999999999,"capabilities":["flow-pro"]}',
        ).toString('base64url'),
        signature,
      ].join('.'),
      `${header}..${signature}`,
      licenseToken({ claims: { sub: 'x'.repeat(20_000) } }),
      'svc_live_1',
      '',
      '..',
      'a.b.c',
      'null',
    ];
    for (const token of forged) expect(await verify(token), token.slice(0, 60)).to.equal(undefined);
  });
});
