import { expect } from 'chai';
import { openOutbound } from '../../../infrastructure/outbound/outbound.ts';

/** Names that the DNS of the tests resolves; all other names do not exist. */
const ZONE: Readonly<Record<string, readonly string[]>> = {
  'public.test': ['93.184.216.34'],
  'example.com': ['93.184.216.34'],
  '127.0.0.1.example.com': ['127.0.0.1'],
  'private.test': ['10.0.0.1'],
  'mixed.test': ['93.184.216.34', '127.0.0.1'],
  'dual.test': ['93.184.216.34', 'fd00::1'],
  'cname.test': ['172.20.0.5'],
  'mapped.test': ['::ffff:10.0.0.1'],
  'garbage.test': ['not an address'],
  'kubernetes.default.svc': ['10.96.0.1'],
  'x.internal': ['93.184.216.34'],
  'x.local': ['93.184.216.34'],
  redis: ['93.184.216.34'],
  localhost: ['127.0.0.1', '::1'],
  'metadata.google.internal': ['169.254.169.254'],
};

const lookup = (host: string) => {
  const answer = ZONE[host];
  return answer
    ? Promise.resolve(answer)
    : Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
};

/** Classes of dangerous URLs. `allow` holds addresses just outside a range. */
const CLASSES: readonly {
  readonly name: string;
  readonly refuse: readonly string[];
  readonly allow?: readonly string[];
}[] = [
  { name: 'loopback', refuse: ['http://127.0.0.1', 'http://127.8.9.10:8080'] },
  { name: 'short forms', refuse: ['http://127.1', 'http://10.1'] },
  { name: 'decimal forms', refuse: ['http://2130706433', 'http://2852039166'] },
  {
    name: 'hexadecimal forms',
    refuse: ['http://0x7f000001', 'http://0x7f.1', 'http://0x7f.0x0.0x0.0x1', 'http://0xa9fea9fe'],
  },
  { name: 'octal forms', refuse: ['http://0177.0.0.1', 'http://0251.0376.0251.0376'] },
  { name: 'a trailing dot', refuse: ['http://127.0.0.1.', 'http://localhost.'] },
  { name: 'percent-encoding', refuse: ['http://%31%32%37.0.0.1'] },
  { name: 'full-width digits', refuse: ['http://１２７.０.０.１'] },
  { name: 'circled digits and letters', refuse: ['http://①②⑦.⓪.⓪.①', 'http://ⓛocalhost'] },
  { name: 'ideographic full stops', refuse: ['http://127。0。0。1'] },
  {
    name: 'missing and reversed slashes',
    refuse: ['http:127.0.0.1', 'http:/127.0.0.1', 'http:\\\\127.0.0.1', 'http:///127.0.0.1'],
  },
  {
    name: 'tab, newline and NUL',
    refuse: [
      'http://\t127.0.0.1',
      'http://127.0.0.1\n.example.com',
      'http://127.0.0.1%00.example.com',
      ' http://127.0.0.1',
    ],
  },
  { name: 'unspecified', refuse: ['http://0', 'http://0.0.0.0', 'http://0.1.2.3', 'http://[::]'] },
  {
    name: 'private networks, to their edges',
    refuse: ['http://10.0.0.1', 'http://172.16.0.1', 'http://172.31.255.255', 'http://192.168.1.1'],
    allow: ['http://172.32.0.1', 'http://11.0.0.1', 'http://9.255.255.255'],
  },
  {
    name: 'carrier-grade NAT, to its edges',
    refuse: ['http://100.64.0.1', 'http://100.127.255.255'],
    allow: ['http://100.128.0.1', 'http://100.63.255.255'],
  },
  { name: 'link-local', refuse: ['http://169.254.1.1'] },
  {
    name: 'cloud metadata over IPv4',
    refuse: [
      'http://169.254.169.254',
      'http://169.254.170.2',
      'http://169.254.170.23',
      'http://100.100.100.200',
      'http://192.0.0.192',
    ],
  },
  { name: 'Azure WireServer, public unicast', refuse: ['http://168.63.129.16'], allow: ['http://168.63.129.17'] },
  { name: 'cloud metadata over IPv6', refuse: ['http://[fd00:ec2::254]', 'http://[fd20:ce::254]'] },
  {
    name: 'metadata names',
    refuse: [
      'http://metadata.google.internal',
      'http://instance-data',
      'http://metadata.google.internal./computeMetadata/v1/',
    ],
  },
  {
    name: 'protocol assignments, documentation, benchmarking',
    refuse: [
      'http://192.0.0.1',
      'http://192.0.2.1',
      'http://198.51.100.7',
      'http://203.0.113.9',
      'http://198.18.0.1',
      'http://192.88.99.1',
    ],
  },
  {
    name: 'multicast, class E, broadcast',
    refuse: ['http://224.0.0.1', 'http://239.1.1.1', 'http://240.0.0.1', 'http://255.255.255.255'],
  },
  {
    name: 'spellings of the IPv6 loopback',
    refuse: ['http://[::1]', 'http://[0:0:0:0:0:0:0:1]', 'http://[0000::0001]'],
  },
  {
    name: 'IPv4-mapped',
    refuse: [
      'http://[::ffff:127.0.0.1]',
      'http://[::ffff:7f00:1]',
      'http://[::ffff:a9fe:a9fe]',
      'http://[0:0:0:0:0:ffff:a00:1]',
    ],
  },
  { name: 'IPv4-compatible', refuse: ['http://[::127.0.0.1]', 'http://[::7f00:1]', 'http://[::5db8:d822]'] },
  { name: 'IPv4-translated', refuse: ['http://[::ffff:0:7f00:1]'] },
  { name: 'NAT64, both prefixes', refuse: ['http://[64:ff9b::7f00:1]', 'http://[64:ff9b:1::7f00:1]'] },
  { name: '6to4', refuse: ['http://[2002:7f00:1::]', 'http://[2002:a9fe:a9fe::]'] },
  { name: 'Teredo', refuse: ['http://[2001:0:4136:e378:8000:63bf:80ff:fffe]'] },
  { name: 'ISATAP', refuse: ['http://[2001:470:1::5efe:7f00:1]', 'http://[2001:470:1:0:200:5efe:a00:1]'] },
  { name: 'IPv6 link-local and zone ids', refuse: ['http://[fe80::1]', 'http://[fe80::1%25eth0]'] },
  {
    name: 'unique local, site-local, multicast',
    refuse: ['http://[fc00::1]', 'http://[fd12::1]', 'http://[fec0::1]', 'http://[ff02::1]'],
  },
  {
    name: 'special IPv6',
    refuse: [
      'http://[2001:db8::1]',
      'http://[3fff::1]',
      'http://[100::1]',
      'http://[5f00::1]',
      'http://[2001:20::1]',
      'http://[2001:2::1]',
      'http://[4000::1]',
    ],
    allow: ['http://[2606:2800:220:1:248:1893:25c8:1946]'],
  },
  {
    name: 'names for loopback',
    refuse: ['http://localhost', 'http://LOCALHOST', 'http://foo.localhost', 'http://ip6-localhost'],
  },
  {
    name: 'single labels and cluster names',
    refuse: ['http://redis', 'http://postgres', 'http://kubernetes.default.svc', 'http://x.internal', 'http://x.local'],
  },
  {
    name: 'a public name for a private address',
    refuse: ['http://private.test', 'http://mapped.test', 'http://garbage.test'],
    allow: ['http://public.test'],
  },
  { name: 'public and private A records', refuse: ['http://mixed.test'] },
  { name: 'public A, private AAAA', refuse: ['http://dual.test'] },
  { name: 'a CNAME into a private network', refuse: ['http://cname.test'] },
  {
    name: 'user information',
    refuse: [
      'http://u:p@127.0.0.1',
      'http://example.com@127.0.0.1',
      'http://1.1.1.1 &@2.2.2.2',
      'http://user@public.test',
      'http://@public.test',
    ],
  },
  {
    name: 'fragments and backslashes',
    refuse: ['http://127.0.0.1#@example.com', 'http://127.0.0.1:80\\@example.com', 'http://example.com\\@127.0.0.1'],
    allow: ['http://example.com/@127.0.0.1', 'http://example.com#@127.0.0.1'],
  },
  {
    name: 'other schemes',
    refuse: [
      'file:///etc/passwd',
      'gopher://127.0.0.1',
      'ftp://public.test',
      'data:text/plain,x',
      'ws://public.test',
      'javascript:alert(1)',
      'unix:/run/x',
      'http+unix://x',
      '//public.test',
      'public.test',
      '',
    ],
  },
  {
    name: 'ports of other protocols',
    refuse: [0, 22, 25, 53, 110, 143, 389, 445, 2113, 3306, 5432, 6379, 9092, 11211, 27017, 65536].map(
      (port) => `http://public.test:${port}`,
    ),
    allow: ['http://public.test:8080', 'https://public.test:8443'],
  },
  {
    name: 'long input and homographs',
    refuse: [
      `http://public.test/${'a'.repeat(1_048_576)}`,
      `http://${'a'.repeat(64)}.test`,
      `http://${'a.'.repeat(130)}test`,
      'http://lоcalhost', // Cyrillic o
      'http://nowhere.test',
    ],
  },
];

describe('the guard against internal addresses', () => {
  const outbound = openOutbound({ lookup });
  after(() => outbound.close());

  for (const { name, refuse, allow = [] } of CLASSES) {
    describe(name, () => {
      for (const url of refuse) {
        it(`refuses ${JSON.stringify(url.slice(0, 80))} when it is saved and before sending`, async () => {
          expect(await outbound.check(url)).to.be.a('string');
          const outcome = await outbound.send({ method: 'POST', url, headers: {}, body: '{}', timeoutMs: 2_000 });
          expect(outcome.kind).to.be.oneOf(['refused', 'failed']);
          // The guard refuses every URL except names that do not exist.
          if (outcome.kind === 'failed') expect(outcome.error).to.equal('host not found');
          else expect(outcome).to.include({ error: 'address not allowed' });
        });
      }
      for (const url of allow) {
        it(`allows ${JSON.stringify(url)}`, async () => {
          expect(await outbound.check(url)).to.equal(undefined);
        });
      }
    });
  }

  describe('allowed networks', () => {
    it('allow the configured networks, also for IPv4-mapped addresses', async () => {
      const client = openOutbound({ lookup, allowedPrivateNetworks: ['10.0.0.0/8'] });
      expect(await client.check('http://10.0.0.1')).to.equal(undefined);
      expect(await client.check('http://[::ffff:a00:1]')).to.equal(undefined);
      expect(await client.check('http://private.test')).to.equal(undefined);
      expect(await client.check('http://192.168.0.1')).to.be.a('string');
      await client.close();
    });

    it('never allow metadata addresses by a range that contains them, also embedded in IPv6', async () => {
      const client = openOutbound({ lookup, allowedPrivateNetworks: ['0.0.0.0/0', '::/0', '169.254.0.0/16'] });
      const metadata = [
        '169.254.169.254',
        '168.63.129.16',
        '[fd00:ec2::254]',
        '[::ffff:a9fe:a9fe]',
        '[64:ff9b::a9fe:a9fe]',
        '[2002:a9fe:a9fe::]',
        'metadata.google.internal',
      ];
      for (const host of metadata) expect(await client.check(`http://${host}/`), host).to.be.a('string');
      expect(await client.check('http://169.254.1.1')).to.equal(undefined);
      await client.close();
    });

    it('allow a metadata address that is configured exactly', async () => {
      const client = openOutbound({ lookup, allowedPrivateNetworks: ['169.254.169.254'] });
      expect(await client.check('http://169.254.169.254')).to.equal(undefined);
      await client.close();
    });

    it('allow internal names only when all their addresses are in allowed networks', async () => {
      const client = openOutbound({ lookup, allowedPrivateNetworks: ['127.0.0.0/8', '::1', '10.0.0.0/8'] });
      expect(await client.check('http://localhost:8080')).to.equal(undefined);
      expect(await client.check('http://kubernetes.default.svc')).to.equal(undefined);
      expect(await client.check('http://redis')).to.be.a('string');
      await client.close();
    });

    for (const entry of [
      '10.0.0.0/33',
      '10.0.0/8',
      'ten',
      '10.0.0.0/8/8',
      '10.0.0.0/-1',
      '10.0.0.0/',
      'fe80::1%eth0',
      '::/129',
      '010.0.0.1',
    ]) {
      it(`refuse the start with an invalid entry: ${entry}`, () => {
        expect(() => openOutbound({ allowedPrivateNetworks: ['127.0.0.0/8', entry] })).to.throw(
          RangeError,
          /WEBHOOK_ALLOWED_PRIVATE_NETWORKS/,
        );
      });
    }
  });

  describe('own infrastructure', () => {
    const own = openOutbound({
      lookup,
      allowedPrivateNetworks: ['0.0.0.0/0', '::/0'],
      ownEndpoints: [
        { host: '0.0.0.0', port: 8081 },
        { host: 'private.test', port: 7000 },
        { host: 'admin.example.com', port: 443 },
        { host: '93.184.216.34', port: 8443 },
      ],
    });
    after(() => own.close());

    for (const url of [
      'http://127.0.0.1:8081',
      'http://[::1]:8081',
      'http://localhost:8081',
      'http://10.0.0.1:7000',
      'http://private.test:7000',
      'https://public.test:8443',
    ]) {
      it(`is refused at ${url} although its network is allowed`, async () => {
        expect(await own.check(url)).to.be.a('string');
      });
    }
    it('does not affect other ports of the same hosts', async () => {
      expect(await own.check('http://127.0.0.1:8082')).to.equal(undefined);
    });
  });
});
