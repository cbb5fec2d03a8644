import { expect } from 'chai';
import { normaliseDomain } from '../../../domain/identity/normalise-domain.ts';

describe('a domain of a tenant', () => {
  it('is normalised to lower case, without port and trailing dot, in the ASCII form that browsers send', () => {
    for (const [input, normalised] of [
      ['Acme.Example.COM', 'acme.example.com'],
      ['acme.test:8080', 'acme.test'],
      ['acme.test.', 'acme.test'],
      [' acme.test ', 'acme.test'],
      ['münchen.test', 'xn--mnchen-3ya.test'],
      ['127.0.0.1:3002', '127.0.0.1'],
      ['localhost', 'localhost'],
    ] as const)
      expect(normaliseDomain(input), input).to.equal(normalised);
  });

  it('is refused when it is not a host name', () => {
    for (const input of [
      '',
      '.',
      ':80',
      'http://acme.test',
      'acme.test/path',
      'user@acme.test',
      'a b',
      'acme..test',
      '-acme.test',
      '[::1]',
      'a\u0000b',
      'acme.test:port',
      `${'a'.repeat(64)}.test`,
      'x'.repeat(300),
      '*.acme.test',
      '%61.test',
    ]) {
      expect(normaliseDomain(input), input).to.equal(undefined);
    }
  });
});
