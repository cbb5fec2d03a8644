import { expect } from 'chai';
import fc from 'fast-check';
import { classifyAddress, parseIpAddress } from '../../../infrastructure/outbound/classify-address.ts';

const classOf = (text: string) => {
  const address = parseIpAddress(text);
  return address === undefined ? undefined : classifyAddress(address);
};
const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));

describe('the class of an address', () => {
  it('is known for every kind of address', () => {
    expect(
      [
        '93.184.216.34',
        '127.0.0.1',
        '10.0.0.1',
        '169.254.1.1',
        '169.254.169.254',
        '224.0.0.1',
        '2606:4700::1111',
        '::1',
        'fc00::1',
        'fe80::1',
      ].map(classOf),
    ).to.deep.equal([
      'public',
      'loopback',
      'private',
      'linkLocal',
      'metadata',
      'reserved',
      'public',
      'loopback',
      'private',
      'linkLocal',
    ]);
  });

  it('is never public for an IPv6 address with an embedded IPv4 address', () => {
    fc.assert(
      fc.property(octets, ([a, b, c, d]) => {
        const [high, low] = [hex(a, b), hex(c, d)];
        const inverted = `${hex(a ^ 255, b ^ 255)}:${hex(c ^ 255, d ^ 255)}`;
        const forms = [
          `::${high}:${low}`,
          `::ffff:0:${high}:${low}`,
          `64:ff9b::${high}:${low}`,
          `64:ff9b:1::${high}:${low}`,
          `2002:${high}:${low}::`,
          `2001:0:4136:e378:8000:63bf:${inverted}`,
          `2001:470:1::5efe:${high}:${low}`,
          `2001:470:1:0:200:5efe:${high}:${low}`,
        ];
        for (const form of forms) expect(classOf(form), form).not.to.equal('public');
      }),
    );
  });

  it('is that of the IPv4 address for an IPv4-mapped address', () => {
    fc.assert(
      fc.property(octets, ([a, b, c, d]) => {
        expect(classOf(`::ffff:${hex(a, b)}:${hex(c, d)}`)).to.equal(classOf(`${a}.${b}.${c}.${d}`));
      }),
    );
  });

  it('does not exist for names, zone ids and non-canonical spellings', () => {
    for (const text of [
      '127.1',
      '0x7f000001',
      '2130706433',
      '0177.0.0.1',
      'localhost',
      'fe80::1%eth0',
      '',
      '1.2.3.4.5',
      '256.1.1.1',
      ':::',
    ])
      expect(parseIpAddress(text), text).to.equal(undefined);
  });
});
