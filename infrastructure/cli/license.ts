import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { DAY_MS } from '../../domain/durations.ts';
import { CAPABILITIES, type Capability, graceUntil, phaseOf } from '../../domain/platform/license.ts';
import { BUILT_IN_LICENSE_KEY } from '../license/built-in-key.ts';
import { issueLicense } from '../license/issue-license.ts';
import { createLicenseVerifier } from '../license/verify-license.ts';
import { printJson } from './print-json.ts';

export const usage = `usage: palimpsest license <command> [options]

  keygen
      creates a key pair and prints {public_key, private_key} as JSON; set SVC_LICENSE_PUBLIC_KEY to the public key
  issue --private-key <file> --subject <who> (--capabilities <a,b,…> | --all)
        [--days <n>] [--plan <name>] [--link <name=url>]…
      signs a license for SVC_LICENSE_KEY, valid for 30 days by default; the file contains the output of keygen or
      only its private_key
  inspect <token> [--public-key <base64url>]
      verifies a license with the given key (default: the built-in key) and prints it; exit code 1 when the
      verification fails

capabilities: ${CAPABILITIES.join(' ')}
`;

/**
 * `palimpsest license keygen|issue|inspect`: licenses for development.
 * @returns 0; 1 when a license does not verify; 2 for wrong arguments
 */
export async function run([command, ...args]: readonly string[]): Promise<number> {
  switch (command) {
    case 'keygen':
      return keygen();
    case 'issue':
      return issue(args);
    case 'inspect':
      return inspect(args);
    case 'help':
    case '--help':
    case '-h':
      process.stdout.write(usage);
      return 0;
    default:
      return misused(command === undefined ? undefined : `there is no command ${command}`);
  }
}

function keygen(): number {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  printJson({
    public_key: publicKey.export({ format: 'jwk' }).x ?? '',
    private_key: privateKey.export({ format: 'jwk' }).d ?? '',
  });
  return 0;
}

async function issue(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'private-key': { type: 'string' },
      subject: { type: 'string' },
      capabilities: { type: 'string' },
      all: { type: 'boolean', default: false },
      days: { type: 'string', default: '30' },
      plan: { type: 'string' },
      link: { type: 'string', multiple: true, default: [] },
    },
  });
  const { 'private-key': file, subject, all, plan } = values;
  if (file === undefined || subject === undefined || subject === '')
    return misused('--private-key and --subject are required');
  if (all === (values.capabilities !== undefined)) return misused('give either --capabilities or --all');
  const names = all
    ? CAPABILITIES
    : (values.capabilities ?? '')
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '');
  const unknown = names.filter((name) => !isCapability(name));
  if (unknown.length > 0) return misused(`unknown capability: ${unknown.join(', ')}`);
  const days = Number(values.days);
  if (!/^-?\d{1,5}$/.test(values.days)) return misused('--days takes a whole number');
  const links: Record<string, string> = {};
  for (const link of values.link) {
    const [, name, url] = /^([^=]+)=(https?:\/\/.+)$/i.exec(link) ?? [];
    if (name === undefined || url === undefined) return misused('--link takes name=https://…');
    links[name] = url;
  }
  const now = new Date();
  const token = await issueLicense({
    privateKey: privateKeyOf(await readFile(file, 'utf8')),
    subject,
    issuedAt: now,
    expiresAt: new Date(now.getTime() + days * DAY_MS),
    capabilities: names.filter(isCapability),
    ...(plan === undefined ? {} : { plan }),
    links,
  });
  process.stdout.write(`${token}\n`);
  return 0;
}

async function inspect(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { 'public-key': { type: 'string', default: BUILT_IN_LICENSE_KEY } },
  });
  const [token, ...more] = positionals;
  if (token === undefined || more.length > 0) return misused('inspect takes one token');
  const verify = await createLicenseVerifier({ publicKey: values['public-key'] });
  const license = await verify(token.trim());
  if (!license) {
    process.stderr.write('license: verification failed\n');
    return 1;
  }
  const { subject, plan, capabilities, links, issuedAt, expiresAt } = license;
  printJson({
    subject,
    plan,
    capabilities,
    links,
    state: phaseOf(license, new Date()),
    issued_at: issuedAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    grace_until: graceUntil(license).toISOString(),
  });
  return 0;
}

function isCapability(name: string): name is Capability {
  return CAPABILITIES.some((capability) => capability === name);
}

/**
 * Reads the private key from the output of keygen, or from a file with only the key.
 * @throws Error for any other text
 */
function privateKeyOf(text: string): string {
  const key = /"private_key":\s*"([^"]+)"/.exec(text)?.[1] ?? text.trim();
  if (!/^[A-Za-z0-9_-]{43}$/.test(key)) throw new Error('the file contains no private key in the format of keygen');
  return key;
}

/** Prints the problem and the usage on stderr. */
function misused(problem: string | undefined): number {
  process.stderr.write(`${problem === undefined ? '' : `license: ${problem}\n\n`}${usage}`);
  return 2;
}
